import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { request as sendRequest } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { waitFor } from '#libs/product/testing';
import { media as contract } from '#services/media';
import { startMediaFixture, readReply, type RunningMedia, type MediaFixture } from './fixture.ts';

const mebibyte = 1024 * 1024;
let fixture: MediaFixture;
let media: RunningMedia;

beforeAll(async () => {
  fixture = await startMediaFixture(import.meta.url);
  media = await fixture.startMedia({ MEDIA_MAX_UPLOADS: '6' });
});
afterAll(() => fixture.stop());

const digestOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const invalid = { error: 'invalid_conversation_audio', message: expect.any(String) };

/** Waits until no upload record exists, and all objects are in use or scheduled for removal. */
async function expectNoRemains(conversationId: number): Promise<void> {
  await waitFor(async () => {
    const uploads = await fixture.env.sql('select 1 from media.uploads where object_key like $1', [
      `audio/${conversationId}/%`,
    ]);
    const known = await fixture.env.sql<{ object_key: string }>(
      'select object_key from media.blobs where conversation_id = $1',
      [conversationId],
    );
    const stored = await fixture.listObjects(conversationId);
    return uploads.length === 0 && stored.every((key) => known.some((blob) => blob.object_key === key));
  });
}

describe('POST /conversations/{id}/audio (rules/media#audio-upload; D27)', () => {
  it('stores the audio file, updates the conversation and returns infos.audio', async () => {
    const id = await fixture.createConversation();
    const bytes = randomBytes(11 * mebibyte + 5);
    const reply = await media.upload(id, 'Morning talk.Mp3', bytes);
    expect(reply.status).toBe(201);
    expect(reply.json).toEqual({
      path: expect.stringMatching(new RegExp(`^audio/${id}/[A-Za-z0-9_-]{32}\\.mp3$`)),
      name: 'Morning talk.Mp3',
      content_type: 'audio/mpeg',
      size_bytes: bytes.byteLength,
      source: 'upload',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?Z$/),
    });
    expect(await fixture.readInfosAudio(id)).toEqual(reply.json);
    const { audio, sha256 } = await fixture.call(contract.rpcs.getAudioMetadata, { conversation_id: id });
    expect({ audio, sha256 }).toEqual({ audio: reply.json, sha256: digestOf(bytes) });
    expect((await media.get(id)).body.equals(bytes)).toBe(true);
    await expectNoRemains(id);
  });

  it('adds a note with the calling person, file name and byte count of an audio upload', async () => {
    const id = await fixture.createConversation();
    await media.upload(id, 'talk.ogg', randomBytes(4321));
    const notes = await fixture.listNotes(id);
    expect(notes).toEqual([
      expect.objectContaining({ note_type: 'audio', author_person: expect.objectContaining({ id: fixture.personId }) }),
    ]);
    expect(notes[0]?.body).toMatch(/talk\.ogg.*4321/);
  });

  it('rejects audio whose metadata exceeds the data limit of the conversation, and keeps the previous audio (D63)', async () => {
    const id = await fixture.createConversation();
    const kept = await media.upload(id, 'kept.wav', Buffer.from('kept'));
    await fixture.env.sql(
      `update conversations.conversations set infos = infos
         || jsonb_build_object('fill', repeat('x', 1048576 - octet_length((infos || '{"fill": ""}')::text))) where id = $1`,
      [id],
    );
    expect([kept.status, (await media.upload(id, 'same.wav', Buffer.from('same'))).status]).toEqual([201, 201]);
    const reply = await media.upload(id, 'longer.wav', Buffer.from('long'));
    const message = expect.stringContaining('1 MiB');
    expect([reply.status, reply.json]).toEqual([
      413,
      { detail: message, error: 'conversation_data_too_large', message },
    ]);
    expect((await media.get(id)).body.toString()).toBe('same');
    expect(await fixture.listNotes(id)).toHaveLength(2);
    await expectNoRemains(id);
  });

  it.each([
    ['a wrong extension', 'talk.txt', randomBytes(100)],
    ['no extension', 'talk', randomBytes(100)],
    ['an empty file', 'talk.mp3', Buffer.alloc(0)],
  ])('rejects an upload with %s and keeps the previous audio', async (_case, fileName, bytes) => {
    const id = await fixture.createConversation();
    const kept = await media.upload(id, 'kept.wav', Buffer.from('kept'));
    const reply = await media.upload(id, fileName, bytes);
    expect([reply.status, reply.json]).toEqual([400, invalid]);
    expect(await fixture.readInfosAudio(id)).toEqual(kept.json);
    expect((await media.get(id)).body.toString()).toBe('kept');
    expect(await fixture.listNotes(id)).toHaveLength(1);
    await expectNoRemains(id);
  });

  it('returns 404 for an unknown conversation before it reads the body of the upload', async () => {
    const upload = media.open(999_999, 'talk.mp3', 100 * mebibyte);
    const response = await new Promise<number | undefined>((resolve) =>
      upload.request.once('response', (message) => resolve(message.statusCode)),
    );
    expect(response).toBe(404);
    upload.request.destroy();
  });

  it('lets a client send its whole body after an early rejection, and then read the response', async () => {
    const socket = connect({ port: media.internalPort, host: '127.0.0.1' });
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    const body = 30 * mebibyte;
    const actor = fixture.env.actors.encodeFor(fixture.actor, 'POST', '/internal/conversations/999999/audio');
    socket.write(
      `POST /internal/conversations/999999/audio HTTP/1.1\r\nHost: media\r\nConnection: close\r\nActor: ${actor}\r\nContent-Length: ${body}\r\n` +
        'Content-Type: multipart/form-data; boundary=b\r\n\r\n',
    );
    for (let sent = 0; sent < body; sent += mebibyte)
      await new Promise((resolve, reject) =>
        socket.write(Buffer.alloc(mebibyte), (error) => (error ? reject(error) : resolve(undefined))),
      );
    await once(socket, 'close');
    expect(text).toMatch(/^HTTP\/1\.1 404 [^]*\{"detail":"Not Found"\}$/);
  });

  it('rejects an upload whose declared length is too large before it reads the body', async () => {
    const id = await fixture.createConversation();
    const upload = media.open(id, 'talk.mp3', 600 * mebibyte);
    const status = await new Promise<number | undefined>((resolve) =>
      upload.request.once('response', (message) => resolve(message.statusCode)),
    );
    expect(status).toBe(400);
    upload.request.destroy();
    await expectNoRemains(id);
  });

  it('stores nothing of an upload whose client disconnects', async () => {
    const id = await fixture.createConversation();
    const upload = media.open(id, 'talk.mp3', 50 * mebibyte);
    for (let sent = 0; sent < 12; sent += 1) await upload.write(randomBytes(mebibyte));
    const [row] = await waitFor(async () => {
      const rows = await fixture.env.sql<{ object_key: string }>(
        'select object_key from media.uploads where object_key like $1',
        [`audio/${id}/%`],
      );
      return rows.length === 1 && (await fixture.store.countUnfinished(rows[0]?.object_key ?? '')) === 1
        ? rows
        : undefined;
    });
    upload.request.destroy();
    await expectNoRemains(id);
    expect(await fixture.listObjects(id)).toEqual([]);
    expect(await fixture.store.countUnfinished(row?.object_key ?? '')).toBe(0);
    expect((await media.get(id)).status).toBe(404);
  });

  it('rejects an upload form that ends in the middle, after a complete file, and keeps the previous audio', async () => {
    const id = await fixture.createConversation();
    await media.upload(id, 'kept.wav', Buffer.from('kept'));
    const body =
      '--b\r\nContent-Disposition: form-data; name="audio"; filename="a.mp3"\r\n\r\nabc\r\n--b\r\nContent-Disp';
    const path = `/internal/conversations/${id}/audio`;
    const request = sendRequest({
      port: media.internalPort,
      host: '127.0.0.1',
      method: 'POST',
      path,
      headers: {
        actor: fixture.env.actors.encodeFor(fixture.actor, 'POST', path),
        'content-type': 'multipart/form-data; boundary=b',
        'content-length': String(body.length),
      },
    });
    const replied = readReply(request);
    request.end(body);
    const reply = await replied;
    expect([reply.status, reply.json]).toEqual([400, { detail: 'Cannot parse request body' }]);
    await expectNoRemains(id);
    expect((await media.get(id)).body.toString()).toBe('kept');
  });

  it('sets the last completed of several concurrent uploads as the audio, in media and in infos', async () => {
    const id = await fixture.createConversation();
    const files = Array.from({ length: 5 }, (_, index) => randomBytes(mebibyte * (index + 1)));
    const replies = await Promise.all(files.map((bytes, index) => media.upload(id, `talk-${index}.mp3`, bytes)));
    expect(replies.map((reply) => reply.status)).toEqual([201, 201, 201, 201, 201]);
    const { audio, sha256 } = await fixture.call(contract.rpcs.getAudioMetadata, { conversation_id: id });
    expect(await fixture.readInfosAudio(id)).toEqual(audio);
    const winner = files.find((bytes) => digestOf(bytes) === sha256);
    expect((await media.get(id)).body.equals(winner as Buffer)).toBe(true);
    expect(await fixture.listNotes(id)).toHaveLength(5);
    const [count] = await fixture.env.sql<{ used: number; retired: number }>(
      `select count(*) filter (where retired_at is null)::int as used, count(*) filter (where retired_at is not null)::int as retired
       from media.blobs where conversation_id = $1`,
      [id],
    );
    expect(count).toEqual({ used: 1, retired: 4 });
  });

  it('returns 503 with Retry-After for uploads above the concurrency limit', async () => {
    const id = await fixture.createConversation();
    const open = Array.from({ length: 6 }, () => media.open(id, 'talk.mp3', 10));
    for (const upload of open) await upload.write(Buffer.from('first'));
    await waitFor(
      async () =>
        (await fixture.env.sql('select 1 from media.uploads where object_key like $1', [`audio/${id}/%`])).length === 6,
    );
    const reply = await media.upload(id, 'talk.mp3', Buffer.from('x'));
    expect(reply.status).toBe(503);
    expect(reply.headers['retry-after']).toMatch(/^\d+$/);
    for (const upload of open) upload.request.destroy();
    await expectNoRemains(id);
    expect((await media.upload(id, 'talk.mp3', Buffer.from('x'))).status).toBe(201);
  });

  it('stores a file name in any script and returns it (RFC 6266)', async () => {
    const id = await fixture.createConversation();
    const reply = await media.upload(id, 'Gespräch 会話.mp3', Buffer.from('x'));
    expect(reply.json).toMatchObject({ name: 'Gespräch 会話.mp3' });
    expect((await media.get(id)).headers['content-disposition']).toBe(
      `attachment; filename="Gespr_ch __.mp3"; filename*=UTF-8''Gespr%C3%A4ch%20%E4%BC%9A%E8%A9%B1.mp3`,
    );
  });
});
