import { createHash, randomBytes } from 'node:crypto';
import { request as sendRequest, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { waitFor } from '#libs/product/testing';
import { startMediaFixture, type RunningMedia, type MediaFixture } from './fixture.ts';

const mebibyte = 1024 * 1024;
let fixture: MediaFixture;
let media: RunningMedia;
let id: number;
const bytes = randomBytes(40 * mebibyte);
const etag = `"${createHash('sha256').update(bytes).digest('hex')}"`;

beforeAll(async () => {
  fixture = await startMediaFixture(import.meta.url);
  media = await fixture.startMedia();
  id = await fixture.createConversation();
  await media.upload(id, 'talk.flac', bytes);
});
afterAll(() => fixture.stop());

/** Starts a download; the test reads the body. */
function begin(conversationId: number): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const path = `/internal/conversations/${conversationId}/audio`;
    const headers = { actor: fixture.env.actors.encodeFor(fixture.actor, 'GET', path) };
    sendRequest({ port: media.internalPort, host: '127.0.0.1', path, headers, agent: false }, resolve)
      .on('error', reject)
      .end();
  });
}

describe('GET, HEAD /conversations/{id}/audio (rules/media#audio-download; D27)', () => {
  it('sends the audio file with its length, type, name and validators', async () => {
    const reply = await media.get(id);
    expect(reply.status).toBe(200);
    expect(reply.headers).toMatchObject({
      'content-type': 'audio/flac',
      'content-length': String(bytes.byteLength),
      'content-disposition': 'attachment; filename="talk.flac"',
      'accept-ranges': 'bytes',
      'x-content-type-options': 'nosniff',
      etag,
    });
    expect(reply.body.equals(bytes)).toBe(true);
  });

  it('answers HEAD like GET without a body, for every range', async () => {
    const [get, head] = [await media.get(id), await media.get(id, { range: 'bytes=0-1' }, 'HEAD')];
    expect([head.status, head.body.byteLength]).toEqual([200, 0]);
    for (const name of ['content-length', 'content-type', 'etag', 'accept-ranges', 'content-disposition'])
      expect(head.headers[name]).toBe(get.headers[name]);
  });

  it.each([
    ['bytes=0-0', 0, 1],
    ['bytes=1000-1999', 1000, 2000],
    [`bytes=${5 * mebibyte - 3}-${5 * mebibyte + 3}`, 5 * mebibyte - 3, 5 * mebibyte + 4],
    ['bytes=-7', bytes.byteLength - 7, bytes.byteLength],
    [`bytes=${39 * mebibyte}-`, 39 * mebibyte, bytes.byteLength],
  ])('sends the requested range of the audio file: %s', async (range, from, to) => {
    const reply = await media.get(id, { range });
    expect(reply.status).toBe(206);
    expect(reply.headers['content-range']).toBe(`bytes ${from}-${to - 1}/${bytes.byteLength}`);
    expect(reply.headers['content-length']).toBe(String(to - from));
    expect(reply.body.equals(bytes.subarray(from, to))).toBe(true);
  });

  it('returns 416 with the length of the audio file for a range outside it', async () => {
    const reply = await media.get(id, { range: `bytes=${bytes.byteLength}-` });
    expect([reply.status, reply.headers['content-range'], reply.json]).toEqual([
      416,
      `bytes */${bytes.byteLength}`,
      { detail: expect.any(String) },
    ]);
  });

  it('sends the whole audio file for unknown range units and for several ranges', async () => {
    for (const range of ['items=0-1', 'bytes=0-1,5-6'])
      expect((await media.get(id, { range }, 'HEAD')).status).toBe(200);
    expect((await media.get(id, { range: 'bytes=0-1,5-6' })).body.byteLength).toBe(bytes.byteLength);
  });

  it('applies If-Range, If-None-Match and If-Match to the audio file', async () => {
    expect((await media.get(id, { range: 'bytes=0-1', 'if-range': etag })).status).toBe(206);
    expect((await media.get(id, { range: 'bytes=0-1', 'if-range': '"another"' })).status).toBe(200);
    for (const tags of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      const reply = await media.get(id, { 'if-none-match': tags });
      expect([reply.status, reply.body.byteLength, reply.headers.etag]).toEqual([304, 0, etag]);
    }
    expect((await media.get(id, { 'if-none-match': '"another"' }, 'HEAD')).status).toBe(200);
    expect((await media.get(id, { 'if-match': etag }, 'HEAD')).status).toBe(200);
    expect((await media.get(id, { 'if-match': `W/${etag}` })).status).toBe(412);
  });

  it('returns 404 with detail when the audio or the conversation does not exist', async () => {
    for (const other of [await fixture.createConversation(), 999_999]) {
      const reply = await media.get(other);
      expect([reply.status, reply.json]).toEqual([404, { detail: 'Not Found' }]);
      expect((await media.get(other, {}, 'HEAD')).status).toBe(404);
    }
  });

  it('returns 404 with detail when the audio file is missing from the object store', async () => {
    const other = await fixture.createConversation();
    await media.upload(other, 'gone.mp3', Buffer.from('gone'));
    for (const key of await fixture.listObjects(other)) await fixture.store.delete(key);
    const reply = await media.get(other);
    expect([reply.status, reply.json]).toEqual([404, { detail: 'Not Found' }]);
    expect((await media.get(other, {}, 'HEAD')).status).toBe(404);
  });

  it('reads the store no faster than the client reads, and stops when the client disconnects', async () => {
    const other = await fixture.createConversation();
    await media.upload(other, 'long.mp3', Buffer.alloc(128 * mebibyte, 7));
    const before = fixture.proxy.receivedBytes;
    const response = await begin(other);
    const settled = async (): Promise<number> => {
      for (let last = -1; ;) {
        const now = fixture.proxy.receivedBytes;
        if (now === last) return now;
        last = now;
        await sleep(500);
      }
    };
    // The service may have read only what the socket buffers of three connections contain.
    expect((await settled()) - before).toBeLessThan(64 * mebibyte);
    response.destroy();
    expect((await settled()) - before).toBeLessThan(96 * mebibyte);
  });

  it('closes the connection when the object store fails during a download', async () => {
    const response = await begin(id);
    fixture.proxy.breakConnections();
    let received = 0;
    const read = async (): Promise<void> => {
      for await (const chunk of response) received += (chunk as Buffer).byteLength;
    };
    await expect(read()).rejects.toThrow('aborted');
    expect(received).toBeLessThan(bytes.byteLength);
  });

  it('completes a running download of a replaced file, and removes the file after the grace period', async () => {
    const quick = await fixture.startMedia({ MEDIA_REPLACED_GRACE_SECONDS: '2' });
    const other = await fixture.createConversation();
    const old = bytes.subarray(0, 30 * mebibyte);
    await quick.upload(other, 'old.mp3', old);
    const response = await begin(other);
    const replaced = await quick.upload(other, 'new.mp3', Buffer.from('new'));
    expect((await media.get(other)).body.toString()).toBe('new');
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    expect(Buffer.concat(chunks).equals(old)).toBe(true);
    const { path } = replaced.json as { path: string };
    await waitFor(async () => (await fixture.listObjects(other)).join() === path);
    // The row of the old file is deleted after the object.
    await waitFor(
      async () => {
        const blobs = await fixture.env.sql<{ object_key: string }>(
          'select object_key from media.blobs where conversation_id = $1',
          [other],
        );
        return blobs.map((blob) => blob.object_key).join() === path;
      },
      { what: 'the row of the new file alone' },
    );
    await quick.stop();
  });
});

describe('a conversation that was deleted while no replica ran and its events expired (D97)', () => {
  it('hides the audio of a deleted conversation, and removes it when the conversation is permanently deleted', async () => {
    const [deleted, gone] = [await fixture.createConversation(), await fixture.createConversation()];
    for (const one of [deleted, gone]) await media.upload(one, 'talk.flac', bytes.subarray(0, 1_000));
    await media.stop();
    const mark = 'update conversations.all_conversations set deleted_at = now(), deletion = $2 where id = $1';
    await fixture.env.sql(mark, [deleted, '{"reason":"operator","by":"test"}']);
    await fixture.env.sql('delete from conversations.all_conversations where id = $1', [gone]);
    media = await fixture.startMedia();
    const states = () =>
      fixture.env.sql<{ id: number; restorable: boolean }>(
        'select conversation_id as id, restorable from media.deleted_conversations where conversation_id = any($1) order by 1',
        [[deleted, gone]],
      );
    await waitFor(async () => (await states()).length === 2);
    expect(await states()).toEqual([
      { id: deleted, restorable: true },
      { id: gone, restorable: false },
    ]);
    expect((await media.get(deleted)).status).toBe(404);
  });
});
