import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTcpProxy, waitFor, watchJobs } from '#libs/product/testing';
import { findFreePort } from '../../../libs/product/servers/ports.ts';
import { startServiceProcess, type ServiceProcess } from '../../../libs/product/servers/service-process.ts';
import { startMediaFixture, speakTo, type RunningMedia, type MediaFixture } from './fixture.ts';

const mebibyte = 1024 * 1024;
const repoDir = join(import.meta.dirname, '..', '..', '..');
let fixture: MediaFixture;
let media: RunningMedia;

beforeAll(async () => {
  fixture = await startMediaFixture(import.meta.url);
  media = await fixture.startMedia({ MEDIA_REPLACED_GRACE_SECONDS: '0' });
});
afterAll(() => fixture.stop());

const listUploads = (id: number) =>
  fixture.env.sql<{ object_key: string }>('select object_key from media.uploads where object_key like $1', [
    `audio/${id}/%`,
  ]);

/** Runs the service as a separate process, so that a test can kill it. */
async function startProcess(): Promise<{ process: ServiceProcess; media: RunningMedia }> {
  const [port, internalPort] = [await findFreePort(), await findFreePort()];
  const env = {
    ...fixture.env.settings,
    ...fixture.mediaSettings,
    PORT: String(port),
    INTERNAL_PORT: String(internalPort),
    METRICS_PORT: String(await findFreePort()),
    MEDIA_UPLOAD_LEASE_SECONDS: '2',
  };
  const process = await startServiceProcess({
    repoDir,
    name: 'media',
    env,
    logFile: join(repoDir, '.data', 'test-logs', fixture.env.id, 'media.log'),
  });
  fixture.env.onStop(() => process.stop());
  await waitFor(async () => (await process.readReadiness()) === undefined, { what: 'media' });
  return { process, media: speakTo({ port, internalPort }, fixture, () => process.stop()) };
}

describe('media when the object store is down (rules/http#overload)', () => {
  it('returns 503 with Retry-After for uploads and downloads, and changes nothing', async () => {
    const id = await fixture.createConversation();
    const kept = await media.upload(id, 'kept.mp3', Buffer.from('kept'));
    fixture.proxy.cut();
    const replies = [
      await media.get(id),
      await media.get(id, {}, 'HEAD'),
      await media.upload(id, 'small.mp3', Buffer.from('small')),
      await media.upload(id, 'large.mp3', randomBytes(8 * mebibyte)),
    ];
    fixture.proxy.restore();
    expect(replies.map((reply) => reply.status)).toEqual([503, 503, 503, 503]);
    for (const reply of replies) expect(reply.headers['retry-after']).toMatch(/^\d+$/);
    expect(replies[2]?.json).toEqual({ detail: 'Object store unavailable' });
    expect(await fixture.readInfosAudio(id)).toEqual(kept.json);
    expect((await media.get(id)).body.toString()).toBe('kept');
    expect(await fixture.listNotes(id)).toHaveLength(1);
  });

  it('completes an upload across a short outage of the object store', async () => {
    const id = await fixture.createConversation();
    const bytes = randomBytes(24 * mebibyte);
    const upload = media.open(id, 'long.mp3', bytes.byteLength);
    await upload.write(bytes.subarray(0, 11 * mebibyte));
    fixture.proxy.cut();
    setTimeout(() => fixture.proxy.restore(), 800);
    await upload.write(bytes.subarray(11 * mebibyte));
    upload.finish();
    expect((await upload.reply).status).toBe(201);
    expect((await media.get(id)).body.equals(bytes)).toBe(true);
  });

  it('removes the remains of an upload that failed during an outage of the object store', async () => {
    const id = await fixture.createConversation();
    const upload = media.open(id, 'lost.mp3', 40 * mebibyte);
    for (let sent = 0; sent < 12; sent += 1) await upload.write(randomBytes(mebibyte));
    const [row] = await waitFor(async () => {
      const rows = await listUploads(id);
      return (await fixture.store.countUnfinished(rows[0]?.object_key ?? '')) === 1 ? rows : undefined;
    });
    fixture.proxy.cut();
    upload.request.destroy();
    await waitFor(
      async () =>
        (await fixture.env.sql('select 1 from media.uploads where object_key = $1 and swept', [row?.object_key]))
          .length === 1,
    );
    expect(await fixture.store.countUnfinished(row?.object_key ?? '')).toBe(1);
    fixture.proxy.restore();
    // After a failed sweep, the removal waits a minute; setting the time makes it due now.
    await fixture.env.sql('update media.uploads set alive_until = now() where object_key = $1 returning 1', [
      row?.object_key,
    ]);
    await media.upload(id, 'wrong.mp3', Buffer.alloc(0));
    await waitFor(async () => (await listUploads(id)).length === 0);
    expect(await fixture.store.countUnfinished(row?.object_key ?? '')).toBe(0);
  });
});

describe('media when a service or the database is unavailable (architecture#bytes)', () => {
  it('returns 503 without reading the body when the conversations service is unavailable', async () => {
    const id = await fixture.createConversation();
    await fixture.stopConversations();
    const reply = await media.upload(id, 'talk.mp3', Buffer.from('x'));
    expect([reply.status, reply.headers['retry-after']]).toEqual([503, expect.stringMatching(/^\d+$/)]);
    await fixture.startConversations();
    expect((await media.get(id)).status).toBe(404);
  });

  it('completes an upload while the conversations service is down, and attaches the audio after its recovery', async () => {
    const id = await fixture.createConversation();
    const upload = media.open(id, 'talk.mp3', 4);
    await upload.write(Buffer.from('ta'));
    await waitFor(async () => (await listUploads(id)).length === 1);
    await fixture.stopConversations();
    await upload.write(Buffer.from('lk'));
    upload.finish();
    const reply = await upload.reply;
    expect(reply.status).toBe(201);
    // Only the conversations service can decide whether the caller may see the conversation (D67).
    expect((await media.get(id)).status).toBe(503);
    await fixture.startConversations();
    expect((await media.get(id)).body.toString()).toBe('talk');
    const attaching = watchJobs(fixture.env, 'conversations.attach-audio');
    await waitFor(async () => {
      await attaching.makeDue();
      return (await fixture.readInfosAudio(id)) !== undefined;
    });
    expect(await fixture.readInfosAudio(id)).toEqual(reply.json);
    expect(await fixture.listNotes(id)).toHaveLength(1);
  });

  it('returns 503 and stores nothing when the database fails during an upload', async () => {
    const database = await startTcpProxy(fixture.env.settings['DATABASE_URL'] ?? '');
    const other = await fixture.startMedia({ DATABASE_URL: database.url });
    const id = await fixture.createConversation();
    const upload = other.open(id, 'talk.mp3', 4);
    await upload.write(Buffer.from('ta'));
    const [row] = await waitFor(async () => {
      const rows = await listUploads(id);
      return rows.length === 1 ? rows : undefined;
    });
    database.cut();
    await upload.write(Buffer.from('lk'));
    upload.finish();
    expect((await upload.reply).status).toBe(503);
    expect((await other.get(id)).status).toBe(503);
    database.restore();
    await fixture.env.sql('update media.uploads set alive_until = now() where object_key = $1 returning 1', [
      row?.object_key,
    ]);
    await other.upload(id, 'wrong.mp3', Buffer.alloc(0));
    await waitFor(async () => (await fixture.listObjects(id)).length === 0 && (await listUploads(id)).length === 0);
    await other.stop();
    await database.stop();
  });
});

describe('a media process killed during an upload (rules/operations#promises)', () => {
  it('removes object and chunks of an upload whose process was killed', async () => {
    const first = await startProcess();
    const id = await fixture.createConversation();
    const upload = first.media.open(id, 'talk.mp3', 40 * mebibyte);
    for (let sent = 0; sent < 12; sent += 1) await upload.write(randomBytes(mebibyte));
    const [row] = await waitFor(async () => {
      const rows = await listUploads(id);
      return (await fixture.store.countUnfinished(rows[0]?.object_key ?? '')) === 1 ? rows : undefined;
    });
    first.process.kill('SIGKILL');
    await expect(upload.reply).rejects.toThrow();
    await first.process.ended;
    expect(await fixture.store.countUnfinished(row?.object_key ?? '')).toBe(1);
    const second = await startProcess();
    await waitFor(async () => (await listUploads(id)).length === 0);
    expect(await fixture.store.countUnfinished(row?.object_key ?? '')).toBe(0);
    expect(await fixture.listObjects(id)).toEqual([]);
    expect((await second.media.get(id)).status).toBe(404);
    await second.process.stop();
  });

  it('finishes a running upload before it stops on SIGTERM', async () => {
    const { process, media: own } = await startProcess();
    const id = await fixture.createConversation();
    const upload = own.open(id, 'talk.mp3', 4);
    await upload.write(Buffer.from('ta'));
    await waitFor(async () => (await listUploads(id)).length === 1);
    process.kill('SIGTERM');
    await waitFor(async () => (await process.readReadiness()) !== undefined);
    await upload.write(Buffer.from('lk'));
    upload.finish();
    expect((await upload.reply).status).toBe(201);
    expect(await process.ended).toBe('ended with status 0');
    expect(await fixture.readInfosAudio(id)).toMatchObject({ name: 'talk.mp3' });
  });
});

describe('media after a conversation was deleted (rules/bookings#booking-webhook)', () => {
  async function createBooked(uid: string): Promise<number> {
    await fixture.book(uid, 'BOOKING_CREATED');
    const [row] = await waitFor(async () => {
      const rows = await fixture.env.sql<{ id: number }>(
        `select id from conversations.conversations where config->'booking'->>'uid' = $1`,
        [uid],
      );
      return rows.length === 1 ? rows : undefined;
    });
    return row?.id ?? 0;
  }
  async function cancel(uid: string, id: number): Promise<void> {
    await fixture.book(uid, 'BOOKING_CANCELLED');
    await waitFor(
      async () => (await fixture.env.sql('select 1 from conversations.conversations where id = $1', [id])).length === 0,
    );
  }

  /** Moves the deletion time into the past, beyond the retention. */
  const age = (id: number) =>
    fixture.env.sql(
      `update conversations.all_conversations set deleted_at = deleted_at - interval '30 days' where id = $1`,
      [id],
    );

  it('returns 404 for the files of a deleted conversation, and deletes them when it is permanently removed (D67)', async () => {
    const id = await createBooked('uid-removed');
    await media.upload(id, 'talk.mp3', Buffer.from('talk'));
    await cancel('uid-removed', id);
    expect((await media.get(id)).status).toBe(404);
    expect(await fixture.listObjects(id)).toHaveLength(1);
    await age(id);
    await waitFor(async () => (await fixture.listObjects(id)).length === 0);
    await waitFor(
      async () => (await fixture.env.sql('select 1 from media.blobs where conversation_id = $1', [id])).length === 0,
    );
    expect(await fixture.listObjects(id)).toEqual([]);
  });

  it('removes the files of a conversation that was permanently removed while no media replica ran', async () => {
    const id = await createBooked('uid-while-away');
    await media.upload(id, 'talk.mp3', Buffer.from('talk'));
    await media.stop();
    await cancel('uid-while-away', id);
    await age(id);
    await waitFor(
      async () =>
        (await fixture.env.sql('select 1 from conversations.all_conversations where id = $1', [id])).length === 0,
    );
    expect(await fixture.listObjects(id)).toHaveLength(1);
    media = await fixture.startMedia({ MEDIA_REPLACED_GRACE_SECONDS: '0' });
    await waitFor(async () => (await fixture.listObjects(id)).length === 0);
  });

  it('stores nothing of an upload that ends after the deletion of its conversation', async () => {
    const id = await createBooked('uid-late');
    const upload = media.open(id, 'talk.mp3', 4);
    await upload.write(Buffer.from('ta'));
    await waitFor(async () => (await listUploads(id)).length === 1);
    await cancel('uid-late', id);
    await waitFor(
      async () =>
        (await fixture.env.sql('select 1 from media.deleted_conversations where conversation_id = $1', [id])).length ===
        1,
    );
    await upload.write(Buffer.from('lk'));
    upload.finish();
    const reply = await upload.reply;
    expect([reply.status, reply.json]).toEqual([404, { detail: 'Not Found' }]);
    await waitFor(async () => (await fixture.listObjects(id)).length === 0 && (await listUploads(id)).length === 0);
  });
});
