import { Readable } from 'node:stream';
import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startScriptProcess, startService, startYoutube, waitFor, type YoutubeServer } from '#libs/testing';
import { conversations } from '#services/conversations';
import { directory } from '#services/directory';
import { mediaPaths } from '#services/media';
import { createWorld, type World } from './world.ts';

const chunk = 262_144;
/** Three whole chunks and a rest. */
const recording = randomBytes(3 * chunk + 1_000);
const sha256 = createHash('sha256').update(recording).digest('hex');

let world: World;
let youtube: YoutubeServer;
let settings: Record<string, string>;
let media: { stop(): Promise<void> };
let mediaUrl = '';
let personId = 0;
let hour = 0;

beforeAll(async () => {
  world = await createWorld(import.meta.url);
  youtube = await startYoutube();
  world.env.onStop(() => youtube.stop());
  settings = {
    ...world.mediaSettings,
    YOUTUBE_CLIENT_ID: youtube.clientId,
    YOUTUBE_CLIENT_SECRET: youtube.clientSecret,
    YOUTUBE_API_URL: youtube.baseUrl,
    YOUTUBE_TOKEN_URL: youtube.tokenUrl,
    VIDEOHOST_CHUNK_BYTES: String(chunk),
  };
  const { ids } = await world.call(directory.rpcs.applyWorkspace, { document: workspace(youtube.refreshToken), dry_run: false });
  personId = ids['people']?.['ada'] ?? 0;
  await start();
});
afterAll(() => world.stop());

async function start(overrides: Record<string, string> = {}): Promise<void> {
  const service = await startService('media', world.env, { ...settings, PORT: '0', ...overrides });
  mediaUrl = `http://127.0.0.1:${(service as unknown as { port: number }).port}`;
  media = service;
}

/** A conversation with a recording, not yet in its step. */
async function hold(options: { bytes?: Buffer; infos?: Record<string, unknown> } = {}): Promise<number> {
  const time = new Date(Date.UTC(2027, 0, 1) - ++hour * 3_600_000).toISOString();
  const [found] = await world.call(conversations.rpcs.findActive, { person_id: personId, journey: 'published', time });
  const id = found?.id ?? 0;
  if (options.infos !== undefined) await world.call(conversations.rpcs.patch, { conversation_id: id, infos: options.infos });
  const address = `${mediaUrl}${mediaPaths.recording(id, 'full')}?name=talk.mp4`;
  const reply = await fetch(address, {
    method: 'PUT',
    body: new Uint8Array(options.bytes ?? recording),
    headers: { 'request-id': 'test' },
  });
  if (!reply.ok) throw new Error(await reply.text());
  return id;
}

const enter = (id: number) => world.call(conversations.rpcs.recorded, { conversation_id: id, idempotency_key: null, write: {} });

interface Job {
  readonly id: string;
  readonly state: string;
  readonly error: string | null;
  readonly percent: number;
  readonly result: string | null;
}

async function jobOf(id: number): Promise<Job | undefined> {
  const jobs = await world.env.sql<Job>(
    `select id::text, state, error, percent, result::text from media.jobs
     where type = 'media.videohost-publish' and payload->>'conversation_id' = $1 order by alive_since desc limit 1`,
    [String(id)],
  );
  return jobs[0];
}

const ends = (id: number, state = 'succeeded') =>
  waitFor(
    async () => {
      const job = await jobOf(id);
      if (job?.state !== state) throw new Error(JSON.stringify(job));
      return job;
    },
    { timeoutMs: 60_000 },
  );
const hurry = () => world.env.sql(`update media.jobs set run_at = now() where state = 'queued' and sent_at is null`);
const record = async (id: number): Promise<unknown> => {
  const { infos } = await world.call(conversations.rpcs.get, { conversation_id: id });
  return (infos as { publishing?: { records?: Record<string, unknown> } }).publishing?.records?.['videohost'];
};
const placesSince = (before: number) =>
  youtube.seen.slice(before).map(({ place, range }) => (range === null ? place : `${place} ${range}`));
const size = recording.byteLength;

describe('videohost_publish (architecture §4)', () => {
  it('uploads the recording in chunks with title and description, and tells where it is', async () => {
    const fields = { title: { value: 'On <water>', provenance: { source: 'publishing_summary' } }, videohost_description: 'About water.' };
    const id = await hold({ infos: { publishing: { fields } } });
    const before = youtube.seen.length;
    await enter(id);
    expect(JSON.parse((await ends(id)).result ?? '')).toEqual({ status: 'published', host: 'youtube', id: 'video-1', sha256 });
    expect(placesSince(before)).toEqual([
      'token',
      'begin',
      `chunk bytes 0-${chunk - 1}/${size}`,
      `chunk bytes ${chunk}-${2 * chunk - 1}/${size}`,
      `chunk bytes ${2 * chunk}-${3 * chunk - 1}/${size}`,
      `chunk bytes ${3 * chunk}-${size - 1}/${size}`,
    ]);
    expect(youtube.videos.at(-1)).toMatchObject({
      sha256,
      metadata: {
        snippet: { title: 'On water', description: 'About water.', tags: ['coherence'], categoryId: '22' },
        status: { privacyStatus: 'private' },
      },
    });
    await waitFor(async () => (await record(id)) !== undefined);
    expect(await record(id)).toEqual({
      value: {
        url: 'https://www.youtube.com/watch?v=video-1',
        id: 'video-1',
        thumbnail: 'https://i.ytimg.example/video-1/default.jpg',
        host: 'youtube',
      },
      provenance: {
        source: 'videohost_publish',
        source_digest: sha256,
        at: expect.stringMatching(/Z$/),
        value_digest: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    });
    const notes = (await world.listNotes(id)).map(({ body }) => body);
    expect(notes).toContain('videohost_publish finished: https://www.youtube.com/watch?v=video-1');
  });

  it('leaves a record alone that a person has written, and uploads nothing', async () => {
    const id = await hold({ infos: { publishing: { records: { videohost: { url: 'https://videos.example/mine' } } } } });
    const before = youtube.seen.length;
    await enter(id);
    expect(JSON.parse((await ends(id)).result ?? '')).toEqual({ status: 'kept' });
    expect([placesSince(before), await record(id)]).toEqual([[], { url: 'https://videos.example/mine' }]);
  });

  it.each([
    [
      'a lost answer to the last chunk',
      'chunk',
      [{ kind: 'keeps', bytes: chunk }, { kind: 'keeps', bytes: chunk }, { kind: 'keeps', bytes: chunk }, { kind: 'answer_lost' }],
    ],
    ['a chunk of which half arrived', 'chunk', [{ kind: 'keeps', bytes: chunk / 2 }]],
    [
      'a server error in the middle',
      'chunk',
      [
        { kind: 'keeps', bytes: chunk },
        { kind: 'status', status: 503 },
      ],
    ],
    ['an access token that ran out', 'chunk', [{ kind: 'keeps', bytes: chunk }, { kind: 'token_expired' }]],
  ] as const)('has one video after %s', async (_what, place, faults) => {
    const id = await hold();
    const count = youtube.videos.length;
    youtube.fail(place, ...faults);
    await enter(id);
    await ends(id);
    expect(youtube.videos.length).toBe(count + 1);
    expect(youtube.videos.at(-1)).toMatchObject({ sha256, sizeBytes: size });
  });

  it('waits for the quota of the host, and is dead when it refuses the credentials, with no secret in what is told', async () => {
    const busy = await hold();
    youtube.fail('begin', { kind: 'status', status: 403, reason: 'quotaExceeded' });
    await enter(busy);
    await waitFor(async () => (await jobOf(busy))?.error === 'the host answered 403 (quotaExceeded)');
    await hurry();
    await ends(busy);

    const refused = await hold();
    youtube.fail('token', { kind: 'status', status: 400, reason: 'invalid_grant' });
    await enter(refused);
    const dead = await ends(refused, 'dead');
    expect(dead.error).toMatch(/^the host gave no access for the refresh token/);
    const told = JSON.stringify(await world.env.sql('select * from media.jobs')) + JSON.stringify(await world.listNotes(refused));
    for (const word of [youtube.refreshToken, youtube.clientSecret, 'upload_id']) expect(told).not.toContain(word);
  });

  it("gives the host the conversation's first thumbnail", async () => {
    const id = await hold();
    const picture = Buffer.from('a picture');
    const key = `thumbnails/${id}/first.jpg`;
    await world.store.putStream(key, Readable.from([picture]), { contentType: 'image/jpeg' });
    await world.env.sql(
      `insert into media.blobs (kind, conversation_id, object_key, name, content_type, size_bytes, sha256, source)
       values ('thumbnail', $1, $2, 'first.jpg', 'image/jpeg', $3, repeat('0', 64), 'test')`,
      [id, key, picture.byteLength],
    );
    await enter(id);
    await ends(id);
    expect(youtube.videos.at(-1)?.thumbnail).toEqual(picture);
  });

  it('begins again when the host has forgotten an upload, but never when its last bytes may have arrived', async () => {
    const id = await hold();
    youtube.fail('chunk', { kind: 'keeps', bytes: chunk }, ...Array.from({ length: 5 }, () => ({ kind: 'status', status: 500 }) as const));
    youtube.fail('ask', { kind: 'status', status: 500 });
    await enter(id);
    await waitFor(async () => (await jobOf(id))?.error === 'the host answered 500 (backendError)', { timeoutMs: 30_000 });
    youtube.forgetSessions();
    youtube.fail('chunk');
    await world.env.sql(`update media.videohost_uploads set is_ending = true where conversation_id = $1`, [id]);
    await hurry();
    expect((await ends(id, 'dead')).error).toMatch(/look at the channel/);
    const count = youtube.videos.length;
    await world.call((await import('#services/media')).media.rpcs.jobsRedrive, { id: (await jobOf(id))?.id ?? '' });
    await waitFor(
      async () => {
        await hurry();
        return (await jobOf(id))?.state === 'succeeded';
      },
      { timeoutMs: 40_000, intervalMs: 500 },
    );
    expect(youtube.videos.length).toBe(count + 1);
  });

  it('goes on where a killed worker was, with one video', async () => {
    await media.stop();
    const before = youtube.seen.length;
    youtube.fail('chunk', { kind: 'keeps', bytes: chunk }, { kind: 'silent' });
    await start();
    const id = await hold();
    await media.stop();
    const child = startScriptProcess(join(import.meta.dirname, '..', '..', '..', 'services', 'media', 'main.ts'), {
      ...world.env.settings,
      ...settings,
      PORT: '0',
      METRICS_PORT: '0',
    });
    await enter(id);
    await waitFor(() => placesSince(before).filter((place) => place.startsWith('chunk')).length === 2, { timeoutMs: 60_000 });
    child.signal('SIGKILL');
    await child.ended;
    await world.env.sql(`update media.jobs set lease_until = now() - interval '1 second' where state = 'running'`);
    await world.env.sql(`update media.videohost_uploads set worked_until = now() where worked_until is not null`);
    const count = youtube.videos.length;
    const restarted = youtube.seen.length;
    await start();
    await ends(id);
    expect(youtube.videos.length).toBe(count + 1);
    expect(youtube.videos.at(-1)?.sha256).toBe(sha256);
    expect(placesSince(restarted).slice(0, 3)).toEqual(['token', `ask bytes */${size}`, `chunk bytes ${chunk}-${2 * chunk - 1}/${size}`]);
  }, 120_000);
});

const workspace = (token: string): unknown => ({
  journeys: [
    {
      slug: 'published',
      name: 'Published',
      svc_app: 'coherence',
      object_kind: 'holon',
      applies_to: 'event',
      is_conversation: true,
      steps: [
        { slug: 'held', title: 'Held' },
        {
          slug: 'publish',
          title: 'Publish',
          pipeline_job: 'videohost_publish',
          config: { privacy: 'private', tags: ['coherence'], videohost_refresh_token: token },
        },
      ],
    },
  ],
  people: [{ key: 'ada', name: 'Ada', contact: { email: 'ada@example.org' } }],
  holons: [{ slug: 'publishing-event', name: 'Publishing', class: 'event', parent: null, journeys: ['published'] }],
});
