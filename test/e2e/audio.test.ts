import { createHash, randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { applyDemo, createConversation, eventually, startTestPlatform } from './test-platform.ts';
import type { Demo, TestPlatform } from './test-platform.ts';

let platform: TestPlatform;
let demo: Demo;
let token: string;
let count = 0;
beforeAll(async () => {
  platform = await startTestPlatform(import.meta.url);
  demo = await applyDemo(platform, 'audio');
  token = await platform.login('ada-audio@example.org', 'secret-of-ada-audio');
});
afterAll(() => platform.stop());

async function fresh(): Promise<number> {
  count += 1;
  return (await createConversation(platform, demo, new Date(Date.UTC(2025, 0, 1) - count * 3_600_000).toISOString()))
    .id;
}
const path = (id: number) => `/api/coherence/conversations/${id}/audio`;
function upload(id: number, name: string, bytes: Uint8Array, part = 'audio') {
  const form = new FormData();
  form.append(part, new Blob([bytes]), name);
  return platform.call('POST', path(id), { token, body: form });
}
const download = (id: number, headers: Record<string, string> = {}) =>
  platform.recorder.fetch(`${platform.baseUrl}${path(id)}`, {
    headers: { authorization: `Bearer ${platform.sharedToken}`, ...headers },
  });
const digest = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

describe('POST /conversations/{id}/audio (rules/media#audio-upload; D27)', () => {
  it('stores the audio file, returns 201 with its metadata and serves identical bytes', async () => {
    const id = await fresh();
    const bytes = randomBytes(12 * 1024 * 1024 + 17);
    const answer = await upload(id, 'Talk.MP3', bytes);
    expect([answer.status, answer.json]).toEqual([
      201,
      {
        path: expect.any(String),
        name: 'Talk.MP3',
        content_type: 'audio/mpeg',
        size_bytes: bytes.length,
        source: 'upload',
        created_at: expect.any(String),
      },
    ]);
    const conversation = (await platform.call('GET', `/api/coherence/conversations/${id}`)).json;
    expect(conversation.infos.audio).toEqual(answer.json);
    const back = await download(id);
    expect([
      back.status,
      back.headers.get('content-type'),
      back.headers.get('content-length'),
      back.headers.get('accept-ranges'),
    ]).toEqual([200, 'audio/mpeg', String(bytes.length), 'bytes']);
    expect(digest(new Uint8Array(await back.arrayBuffer()))).toBe(digest(bytes));
  });

  it('records the person who uploaded the audio, the file name and the byte count', async () => {
    const id = await fresh();
    await upload(id, 'talk.wav', randomBytes(1234));
    const notes = await platform.ask('notes', 'list', '--conversation', String(id));
    expect(notes).toEqual([
      expect.objectContaining({ note_type: 'audio', author_person: expect.objectContaining({ id: demo.ada }) }),
    ]);
    expect(notes[0].body).toContain('talk.wav');
    expect(notes[0].body).toContain('1234');
  });

  it('replaces the audio file with a later upload', async () => {
    const id = await fresh();
    await upload(id, 'one.mp3', Buffer.from('one'));
    const second = await upload(id, 'two.ogg', Buffer.from('second'));
    expect(second.status).toBe(201);
    expect(await (await download(id)).text()).toBe('second');
    expect((await platform.call('GET', `/api/coherence/conversations/${id}`)).json.infos.audio.name).toBe('two.ogg');
  });

  it('returns 413 for audio over the conversation size limit, and retains the previous audio (D63)', async () => {
    const id = await fresh();
    await upload(id, 'kept.wav', Buffer.from('kept'));
    await platform.sql(
      `update conversations.conversations set infos = infos
         || jsonb_build_object('fill', repeat('x', 1048576 - octet_length((infos || '{"fill": ""}')::text))) where id = $1`,
      [id],
    );
    const answer = await upload(id, 'longer.wav', Buffer.from('longer'));
    const message = expect.stringContaining('1 MiB');
    expect([answer.status, answer.json]).toEqual([
      413,
      { detail: message, error: 'conversation_data_too_large', message },
    ]);
    expect(await (await download(id)).text()).toBe('kept');
  });

  it.each(['aac', 'flac', 'm4a', 'mp3', 'oga', 'ogg', 'opus', 'wav', 'webm', 'WAV'])(
    'accepts audio with the extension %s',
    async (extension) => {
      expect((await upload(await fresh(), `a.${extension}`, Buffer.from('x'))).status).toBe(201);
    },
  );

  it.each([
    ['a.txt', 'x'],
    ['mp3', 'x'],
    ['a.mp3.exe', 'x'],
    ['a.mp3', ''],
  ])('rejects %s with %j and retains the previous audio', async (name, content) => {
    const id = await fresh();
    await upload(id, 'keep.mp3', Buffer.from('keep'));
    const before = (await platform.call('GET', `/api/coherence/conversations/${id}`)).json;
    const answer = await upload(id, name, Buffer.from(content));
    expect([answer.status, answer.json]).toEqual([
      400,
      { error: 'invalid_conversation_audio', message: expect.any(String) },
    ]);
    expect((await platform.call('GET', `/api/coherence/conversations/${id}`)).json).toEqual(before);
    expect(await (await download(id)).text()).toBe('keep');
  });

  it('returns 422 when the audio part is missing or is text', async () => {
    const id = await fresh();
    const missing = await upload(id, 'a.mp3', Buffer.from('x'), 'other');
    expect([missing.status, missing.json.detail[0].loc, missing.json.detail[0].type]).toEqual([
      422,
      ['file', 'audio'],
      'missing',
    ]);
    const form = new FormData();
    form.append('audio', 'text');
    expect((await platform.call('POST', path(id), { token, body: form })).status).toBe(422);
  });

  it('responds to invalid request headers before the client sends the file (D107)', async () => {
    const ask = (id: number, length: number): Promise<[status: number | undefined, isWanted: boolean]> =>
      new Promise((resolve, reject) => {
        const asking = request(`${platform.baseUrl}${path(id)}`, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${token}`,
            'content-type': 'multipart/form-data; boundary=x',
            'content-length': length,
            expect: '100-continue',
          },
        });
        let isWanted = false;
        asking.on('error', reject).once('continue', () => {
          isWanted = true;
          asking.end(`--x\r\nContent-Disposition: form-data; name="audio"; filename="a.mp3"\r\n\r\na\r\n--x--\r\n`);
        });
        asking.once('response', (answer) => {
          answer.resume();
          resolve([answer.statusCode, isWanted]);
          if (!isWanted) asking.destroy();
        });
        asking.flushHeaders();
      });
    const id = await fresh();
    expect(await ask(id, 600_000_000)).toEqual([400, false]);
    expect(await ask(999_999, 600)).toEqual([404, false]);
    expect(await ask(id, 81)).toEqual([201, true]);
  });

  it('returns 404 for audio of an unknown conversation', async () => {
    const answer = await upload(999_999_999, 'a.mp3', Buffer.from('x'));
    expect([answer.status, answer.json]).toEqual([404, { detail: 'Not Found' }]);
  });

  it('stores only the base name of a path as the file name', async () => {
    const answer = await upload(await fresh(), '../../etc/talk.mp3', Buffer.from('x'));
    expect([answer.status, answer.json.name]).toEqual([201, 'talk.mp3']);
  });

  it('removes all data of an aborted upload', async () => {
    const id = await fresh();
    await upload(id, 'keep.mp3', Buffer.from('keep'));
    const boundary = 'xxboundaryxx';
    await new Promise<void>((resolve) => {
      const call = request(`${platform.baseUrl}${path(id)}`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': `multipart/form-data; boundary=${boundary}`,
          'content-length': '50000000',
        },
      });
      call.on('error', () => resolve());
      call.on('close', () => resolve());
      call.write(`--${boundary}\r\ncontent-disposition: form-data; name="audio"; filename="a.mp3"\r\n\r\n`);
      call.write(randomBytes(9_000_000), () => call.destroy());
    });
    await eventually(async () => {
      expect(await (await download(id)).text()).toBe('keep');
      const conversation = (await platform.call('GET', `/api/coherence/conversations/${id}`)).json;
      expect(conversation.infos.audio.name).toBe('keep.mp3');
    });
  });
});

describe('GET /conversations/{id}/audio (rules/media#audio-download; D27, rules/http#etag)', () => {
  let id: number;
  beforeAll(async () => {
    id = await fresh();
    await upload(id, 'digits.mp3', Buffer.from('0123456789'));
  });

  it.each([
    ['bytes=0-3', 206, '0123', 'bytes 0-3/10'],
    ['bytes=7-', 206, '789', 'bytes 7-9/10'],
    ['bytes=-2', 206, '89', 'bytes 8-9/10'],
    ['bytes=5-100', 206, '56789', 'bytes 5-9/10'],
    ['lines=0-3', 200, '0123456789', null],
    ['bytes=x-y', 200, '0123456789', null],
  ])('serves the audio range %s', async (range, status, text, contentRange) => {
    const answer = await download(id, { range });
    expect([answer.status, await answer.text(), answer.headers.get('content-range')]).toEqual([
      status,
      text,
      contentRange,
    ]);
  });

  it.each(['bytes=10-', 'bytes=100-200', 'bytes=-0'])('returns 416 for the audio range %s', async (range) => {
    const answer = await download(id, { range });
    expect([answer.status, answer.headers.get('content-range')]).toEqual([416, 'bytes */10']);
  });

  it('applies If-Range and If-None-Match to audio', async () => {
    const etag = (await download(id)).headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[^"]+"$/);
    expect((await download(id, { range: 'bytes=0-3', 'if-range': etag })).status).toBe(206);
    expect((await download(id, { range: 'bytes=0-3', 'if-range': '"other"' })).status).toBe(200);
    expect((await download(id, { 'if-none-match': etag })).status).toBe(304);
  });

  it('returns 404 for an unknown conversation and for one without audio, regardless of infos', async () => {
    const other = await fresh();
    await platform.call('PATCH', `/api/coherence/conversations/${other}`, {
      json: { infos: { audio: { path: 'x', name: 'x.mp3' } } },
    });
    for (const target of [other, 999_999_999]) {
      const answer = await download(target);
      expect([answer.status, await answer.json()]).toEqual([404, { detail: expect.any(String) }]);
    }
  });

  it('requires a credential for audio downloads', async () => {
    expect((await fetch(`${platform.baseUrl}${path(id)}`)).status).toBe(401);
  });
});
