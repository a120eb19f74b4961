import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { waitFor } from '#libs/product/testing';
import { applyDemo, createConversation, startTestPlatform, type Applied, type TestPlatform } from './test-platform.ts';

let platform: TestPlatform;
let folder: string;
let count = 0;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'video-'));
  platform = await startTestPlatform(import.meta.url);
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await platform.stop();
});

const film = randomBytes(6 * 1024 * 1024 + 11);

/** Writes the files, then applies a recording under a key. Returns the id of the conversation. */
async function record(
  key: string,
  recording: Record<string, unknown>,
  files: Record<string, string | Buffer> = {},
): Promise<number> {
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  const file = join(folder, `${++count}.json`);
  writeFileSync(file, JSON.stringify({ conversations: [{ key, recording }] }));
  return ((await platform.ask('workspace', 'apply', file)) as Applied).ids['conversations']?.[key] ?? 0;
}
const video = (id: number, call = {}) => platform.call('GET', `/api/coherence/conversations/${id}/video`, call);
const fetchMedia = (url: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(`${platform.baseUrl}${url}`, { headers, method });

describe('GET /conversations/{id}/video (rules/media#video; D27)', () => {
  it('returns a relative video URL with a version marker, and the stored file name', async () => {
    const id = await record('one', { full: './Film Ä.mp4' }, { 'Film Ä.mp4': film });
    const answer = await video(id);
    expect([answer.status, answer.json]).toEqual([
      200,
      { url: expect.stringMatching(/^\/media\/\S+\.mp4\?v=[\w-]+$/), name: 'Film Ä.mp4' },
    ]);
    expect(answer.headers.get('etag')).toMatch(/^"/);
    expect((await video(id, { headers: { 'if-none-match': answer.headers.get('etag') } })).status).toBe(304);
    expect((await video(id, { token: null })).status).toBe(401);
  });

  it('writes no video URL to logs, because the URL grants access to the file', async () => {
    const { url } = (await video(await record('unlogged', { full: 'unlogged.mp4' }, { 'unlogged.mp4': film }))).json;
    expect((await fetchMedia(url)).status).toBe(200);
    const [, folderPath = '', name = ''] = /^(\/media\/.*\/)([^/?]+)/.exec(url) ?? [];
    expect(name.length).toBeGreaterThan(30);
    const logs = await waitFor(async () => [await platform.readLogs()].find((text) => text.includes(`${folderPath}…`)));
    expect(logs).not.toContain(name);
  });

  it('returns 404 for the video of an unknown conversation, and of one without a recording', async () => {
    const demo = await applyDemo(platform, 'video');
    const { id } = await createConversation(platform, demo);
    for (const missing of [id, 999_999_999, 0]) {
      const answer = await video(missing);
      expect([answer.status, answer.json]).toEqual([404, { detail: 'Not Found' }]);
    }
  });

  it('prefers a trimmed recording until it is finalised, and then the full recording if it exists', async () => {
    const files = { 'full.mp4': 'full', 'trimmed.mp4': 'trimmed' };
    const id = await record('two', { full: 'full.mp4', front_trimmed: 'trimmed.mp4', finalized: false }, files);
    expect((await video(id)).json.name).toBe('trimmed.mp4');
    await record('two', { finalized: true });
    expect((await video(id)).json.name).toBe('full.mp4');
    await record('two', { full: null, front_trimmed: null });
    expect((await video(id)).json.name).toBe('full.mp4');
    const alone = await record('three', { full: null, front_trimmed: 'trimmed.mp4', finalized: true });
    expect((await video(alone)).json.name).toBe('trimmed.mp4');
  });

  it('requires the same access for captions as for the video (T4)', async () => {
    const files = { 'spoken.mp4': 'film' };
    const id = await record('spoken', { full: 'spoken.mp4' }, files);
    const path = `/api/coherence/conversations/${id}/captions.vtt`;
    const silent = await platform.call('GET', path);
    expect([silent.status, silent.json]).toEqual([404, { detail: 'Not Found' }]);
    const file = join(folder, `${++count}.json`);
    const transcript = [{ start_ms: 1_500, end_ms: 2_000, speaker: 'Gwen', text: 'Hello\n\nyou' }];
    writeFileSync(file, JSON.stringify({ conversations: [{ key: 'spoken', transcript }] }));
    await platform.ask('workspace', 'apply', file);
    const answer = await platform.call('GET', path);
    expect([answer.status, answer.headers.get('content-type'), answer.text]).toEqual([
      200,
      'text/vtt; charset=utf-8',
      'WEBVTT\n\n00:00:01.500 --> 00:00:02.000\n<v Gwen>Hello you\n',
    ]);
    expect(
      (await platform.call('GET', path, { headers: { 'if-none-match': answer.headers.get('etag') ?? '' } })).status,
    ).toBe(304);
    expect((await platform.call('GET', path, { token: null })).status).toBe(401);
    expect((await platform.call('GET', '/api/coherence/conversations/999999999/captions.vtt')).status).toBe(404);
  });

  it('changes the version marker with the stored object, but not when the same file is stored again', async () => {
    const id = await record('four', { full: 'four.mp4' }, { 'four.mp4': 'first' });
    const first = (await video(id)).json.url as string;
    await record('four', { full: 'four.mp4' });
    expect((await video(id)).json.url).toBe(first);
    await record('four', { full: 'four.mp4' }, { 'four.mp4': 'other' });
    const second = (await video(id)).json.url as string;
    expect(second.split('?v=')[1]).not.toBe(first.split('?v=')[1]);
    expect(await (await fetchMedia(second)).text()).toBe('other');
  });
});

describe('media orphans (architecture#orphans)', () => {
  it('lists unreferenced objects, deletes them only on request, and ignores recent and referenced objects', async () => {
    const id = await record('kept', { full: 'kept.mp4' }, { 'kept.mp4': 'kept' });
    const lost = await record('lost', { full: 'lost.mp4' }, { 'lost.mp4': 'lost' });
    await platform.sql(`delete from media.blobs where conversation_id = ${lost}`);
    const orphans = async (...options: string[]) => {
      const { code, stdout, stderr } = await platform.cli('media', 'orphans', ...options, '--json');
      expect([code, stderr]).toEqual([0, '']);
      const { orphans: found, deleted } = JSON.parse(stdout) as { orphans: { key: string }[]; deleted: number };
      return [found.filter(({ key }) => key.startsWith(`recordings/${lost}/`)).length, found.length, deleted];
    };
    expect(await orphans('--delete', '--yes')).toEqual([0, 0, 0]);
    expect((await platform.cli('media', 'orphans', '--min-age-hours', '0')).stdout).toMatch(
      /1 orphans \(4 bytes, nothing deleted; use --delete\)/,
    );
    expect(await orphans('--min-age-hours', '0', '--delete', '--yes')).toEqual([1, 1, 1]);
    expect(await (await fetchMedia((await video(id)).json.url as string)).text()).toBe('kept');
  });
});

describe('GET /media/* (rules/media#video; D27)', () => {
  const addressOf = async (): Promise<string> =>
    (await video(await record('film', { full: 'film.webm' }, { 'film.webm': film }))).json.url as string;

  it('serves media files without a token, with content type, validators, cache headers and nosniff', async () => {
    const url = await addressOf();
    const answer = await fetchMedia(url);
    const bytes = new Uint8Array(await answer.arrayBuffer());
    const sha256 = createHash('sha256').update(film).digest('hex');
    expect([answer.status, createHash('sha256').update(bytes).digest('hex')]).toEqual([200, sha256]);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'video/webm',
      'content-length': String(film.length),
      'accept-ranges': 'bytes',
      'cache-control': 'public, max-age=31536000, immutable',
      'content-disposition': 'inline; filename="film.webm"',
      'x-content-type-options': 'nosniff',
      etag: `"${sha256}"`,
    });
    const [path = ''] = url.split('?');
    for (const other of [path, `${path}?v=old`])
      expect((await fetchMedia(other, {}, 'HEAD')).headers.get('cache-control')).toBe('public, no-cache');
    const head = await fetchMedia(url, {}, 'HEAD');
    expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([
      200,
      String(film.length),
      '',
    ]);
    expect((await fetchMedia(url, { 'if-none-match': `W/"${sha256}"` })).status).toBe(304);
  });

  it('serves ranges of media files according to RFC 9110', async () => {
    const url = await addressOf();
    const etag = (await fetchMedia(url, {}, 'HEAD')).headers.get('etag') ?? '';
    const part = await fetchMedia(url, { range: 'bytes=5-9', 'if-range': etag });
    expect([part.status, part.headers.get('content-range'), Buffer.from(await part.arrayBuffer())]).toEqual([
      206,
      `bytes 5-9/${film.length}`,
      film.subarray(5, 10),
    ]);
    const tail = await fetchMedia(url, { range: 'bytes=-3' });
    expect([tail.status, Buffer.from(await tail.arrayBuffer())]).toEqual([206, film.subarray(-3)]);
    const beyond = await fetchMedia(url, { range: `bytes=${film.length}-` });
    expect([beyond.status, beyond.headers.get('content-range')]).toEqual([416, `bytes */${film.length}`]);
    const changed = await fetchMedia(url, { range: 'bytes=5-9', 'if-range': '"other"' }, 'GET');
    expect(changed.status).toBe(200);
    await changed.body?.cancel();
    const unit = await fetchMedia(url, { range: 'pages=1-2' });
    expect(unit.status).toBe(200);
    await unit.body?.cancel();
  });

  it('returns 404 for every path that is not a stored file, lists no files, and rejects other methods', async () => {
    const [path = ''] = (await addressOf()).split('?');
    const folderPath = path.slice(0, path.lastIndexOf('/'));
    const wrong = [
      '/media',
      '/media/',
      folderPath,
      `${folderPath}/`,
      `${path}x`,
      `${folderPath}/..%2f..%2fx`,
      path.replace(/.\.webm/, 'A.webm'),
      `/media/a/b/c/d`,
    ];
    for (const other of wrong.filter((item) => item !== path)) {
      const answer = await fetchMedia(other);
      expect([other, answer.status, await answer.json()]).toEqual([other, 404, { detail: 'Not Found' }]);
    }
    expect((await fetchMedia(path, {}, 'POST')).status).toBe(405);
    expect((await fetchMedia(path, {}, 'PUT')).status).toBe(405);
  });

  it('never serves audio at /media', async () => {
    writeFileSync(join(folder, 'talk.mp3'), 'speech');
    const file = join(folder, 'audio.json');
    writeFileSync(file, JSON.stringify({ conversations: [{ key: 'speech', audio: 'talk.mp3' }] }));
    await platform.ask('workspace', 'apply', file);
    const [row] = await platform.sql<{ object_key: string }>(`select object_key from media.blobs where kind = 'audio'`);
    expect(row?.object_key).toMatch(/^audio\//);
    expect((await fetchMedia(`/media/${row?.object_key}`)).status).toBe(404);
  });

  it('deletes the recording with the conversation', async () => {
    const id = await record('gone', { full: 'gone.mp4' }, { 'gone.mp4': 'gone' });
    const { url } = (await video(id)).json as { url: string };
    expect((await fetchMedia(url)).status).toBe(200);
    await platform.sql(`update media.blobs set retired_at = now() where conversation_id = ${id}`);
    expect([(await video(id)).status, (await fetchMedia(url)).status]).toEqual([404, 404]);
  });
});
