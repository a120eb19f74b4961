import { Readable } from 'node:stream';
import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  conversationJourney,
  type InnerServer,
  fastJobTuning,
  startInnerServer,
  startScriptProcess,
  startService,
  startYoutube,
  waitFor,
  watchJobs,
  type JobWatch,
  type YoutubeServer,
} from '#libs/product/testing';
import { conversations } from '#services/conversations';
import { directory } from '#services/directory';
import { media as contract, mediaPaths } from '#services/media';
import { startMediaFixture, type MediaFixture } from './fixture.ts';

const chunk = 262_144;
/** Three full chunks and a remainder. */
const recording = randomBytes(3 * chunk + 1_000);
const sha256 = createHash('sha256').update(recording).digest('hex');

let fixture: MediaFixture;
let youtube: YoutubeServer;
let jobs: JobWatch;
let settings: Record<string, string>;
let media: { stop(): Promise<void> };
let mediaUrl = '';
let personId = 0;
let hour = 0;

beforeAll(async () => {
  fixture = await startMediaFixture(import.meta.url);
  jobs = watchJobs(fixture.env, 'media.videohost-publish');
  youtube = await startYoutube();
  fixture.env.onStop(() => youtube.stop());
  settings = {
    ...fixture.mediaSettings,
    YOUTUBE_CLIENT_ID: youtube.clientId,
    YOUTUBE_CLIENT_SECRET: youtube.clientSecret,
    YOUTUBE_API_URL: youtube.baseUrl,
    YOUTUBE_TOKEN_URL: youtube.tokenUrl,
    VIDEOHOST_CHUNK_BYTES: String(chunk),
  };
  const { ids } = await fixture.call(directory.rpcs.applyWorkspace, {
    document: workspace(youtube.refreshToken),
    dry_run: false,
  });
  personId = ids['people']?.['ada'] ?? 0;
  await start();
});
afterAll(() => fixture.stop());

async function start(overrides: Record<string, string> = {}): Promise<void> {
  const service = await startService(
    'media',
    fixture.env,
    { ...settings, PORT: '0', ...overrides },
    { tuning: fastJobTuning },
  );
  mediaUrl = `http://127.0.0.1:${(service as unknown as { internalPort: number }).internalPort}`;
  media = service;
}

/** Creates a conversation with a recording that has not reached its publishing step. */
async function hold(
  options: { bytes?: Buffer; infos?: Record<string, unknown>; journey?: string } = {},
): Promise<number> {
  const time = new Date(Date.UTC(2027, 0, 1) - ++hour * 3_600_000).toISOString();
  const [found] = await fixture.call(conversations.rpcs.findActive, {
    person_id: personId,
    journey: options.journey ?? 'published',
    time,
  });
  const id = found?.id ?? 0;
  if (options.infos !== undefined)
    await fixture.call(conversations.rpcs.patch, { conversation_id: id, infos: options.infos });
  const { ticket } = await fixture.call(contract.rpcs.issueUploadTicket, { conversation_id: id, kind: 'full' });
  const address = `${mediaUrl}${mediaPaths.recording(id, 'full')}?name=talk.mp4`;
  const reply = await fetch(address, {
    method: 'PUT',
    body: new Uint8Array(options.bytes ?? recording),
    headers: { 'request-id': 'test', ticket },
  });
  if (!reply.ok) throw new Error(await reply.text());
  return id;
}

const enter = (id: number) =>
  fixture.call(conversations.rpcs.recorded, { conversation_id: id, idempotency_key: null, write: {} });

const record = async (id: number): Promise<unknown> => {
  const { infos } = await fixture.call(conversations.rpcs.get, { conversation_id: id });
  return (infos as { publishing?: { records?: Record<string, unknown> } }).publishing?.records?.['videohost'];
};
const placesSince = (before: number) =>
  youtube.seen.slice(before).map(({ location: place, range }) => (range === null ? place : `${place} ${range}`));
const size = recording.byteLength;

describe('videohost_publish (rules/steps#pipeline-jobs)', () => {
  it('uploads the recording in chunks with title and description, and stores its URL', async () => {
    const fields = {
      title: { value: 'On <water>', provenance: { source: 'publishing_summary' } },
      videohost_description: 'About water.',
    };
    const id = await hold({ infos: { publishing: { fields } } });
    const before = youtube.seen.length;
    await enter(id);
    expect((await jobs.waitForState(id)).result).toEqual({
      status: 'published',
      host: 'youtube',
      id: 'video-1',
      sha256,
    });
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
    const notes = (await fixture.listNotes(id)).map(({ body }) => body);
    expect(notes).toContain('videohost_publish finished: https://www.youtube.com/watch?v=video-1');
  });

  it('keeps a videohost record that a person wrote, and uploads no video', async () => {
    const id = await hold({
      infos: { publishing: { records: { videohost: { url: 'https://videos.example/mine' } } } },
    });
    const before = youtube.seen.length;
    await enter(id);
    expect((await jobs.waitForState(id)).result).toEqual({ status: 'kept' });
    expect([placesSince(before), await record(id)]).toEqual([[], { url: 'https://videos.example/mine' }]);
  });

  it.each([
    [
      'a lost answer to the last chunk',
      'chunk',
      [
        { kind: 'keeps', bytes: chunk },
        { kind: 'keeps', bytes: chunk },
        { kind: 'keeps', bytes: chunk },
        { kind: 'answer_lost' },
      ],
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
  ] as const)('publishes exactly one video after %s', async (_what, place, faults) => {
    const id = await hold();
    const count = youtube.videos.length;
    youtube.fail(place, ...faults);
    await enter(id);
    await jobs.waitForState(id);
    expect(youtube.videos.length).toBe(count + 1);
    expect(youtube.videos.at(-1)).toMatchObject({ sha256, sizeBytes: size });
  });

  it('waits for the quota of the host, and is dead when the host rejects the credentials; no message contains a secret', async () => {
    const busy = await hold();
    youtube.fail('begin', { kind: 'status', status: 403, reason: 'quotaExceeded' });
    await enter(busy);
    await jobs.waitForError(busy, 'the host answered 403 (quotaExceeded)');
    await jobs.makeDue();
    await jobs.waitForState(busy);

    const refused = await hold();
    youtube.fail('token', { kind: 'status', status: 400, reason: 'invalid_grant' });
    await enter(refused);
    const dead = await jobs.waitForState(refused, 'dead');
    expect(dead.error).toMatch(/^the host gave no access for the refresh token/);
    const told =
      JSON.stringify(await fixture.env.sql('select * from media.jobs')) +
      JSON.stringify(await fixture.listNotes(refused));
    for (const word of [youtube.refreshToken, youtube.clientSecret, 'upload_id']) expect(told).not.toContain(word);
  });

  it('restarts an upload that the host no longer knows, unless its last bytes may have been received', async () => {
    const id = await hold();
    youtube.fail('chunk', { kind: 'keeps', bytes: chunk }, { kind: 'status', status: 500, retryAfter: 1 });
    youtube.fail('ask', { kind: 'status', status: 500 });
    await enter(id);
    await jobs.waitForError(id, 'the host answered 500 (backendError)');
    youtube.forgetSessions();
    await fixture.env.sql(`update media.videohost_uploads set is_ending = true where conversation_id = $1`, [id]);
    await jobs.makeDue();
    expect((await jobs.waitForState(id, 'dead')).error).toMatch(/Check the channel/);
    const count = youtube.videos.length;
    await fixture.call((await import('#services/media')).media.rpcs.redriveJobs, {
      ids: [(await jobs.latest(id))?.id ?? ''],
    });
    await jobs.waitForState(id);
    expect(youtube.videos.length).toBe(count + 1);
  });

  it('continues the upload of a killed worker, and publishes one video', async () => {
    await media.stop();
    const before = youtube.seen.length;
    youtube.fail('chunk', { kind: 'keeps', bytes: chunk }, { kind: 'silent' });
    await start();
    const id = await hold();
    await media.stop();
    const child = startScriptProcess(join(import.meta.dirname, 'media-process.ts'), {
      ...fixture.env.settings,
      ...settings,
      PORT: '0',
      METRICS_PORT: '0',
    });
    await enter(id);
    await waitFor(() => placesSince(before).filter((place) => place.startsWith('chunk')).length === 2);
    child.signal('SIGKILL');
    await child.ended;
    await jobs.expireLeases();
    await fixture.env.sql(`update media.videohost_uploads set worked_until = now() where worked_until is not null`);
    const count = youtube.videos.length;
    const restarted = youtube.seen.length;
    await start();
    await jobs.requeueAfterCrash(id);
    await jobs.waitForState(id);
    expect(youtube.videos.length).toBe(count + 1);
    expect(youtube.videos.at(-1)?.sha256).toBe(sha256);
    expect(placesSince(restarted).slice(0, 3)).toEqual([
      'token',
      `ask bytes */${size}`,
      `chunk bytes ${chunk}-${2 * chunk - 1}/${size}`,
    ]);
  });
});

describe('the thumbnail on the video host (rules/steps#pipeline-jobs; thumbnails.set)', () => {
  /** Adds thumbnails as an import does, in order. */
  async function addThumbnails(id: number, ...pictures: Buffer[]): Promise<void> {
    for (const [index, picture] of pictures.entries()) {
      const key = `thumbnails/${id}/${index}.jpg`;
      await fixture.store.putStream(key, Readable.from([picture]), { contentType: 'image/jpeg' });
      await fixture.env.sql(
        `insert into media.blobs (kind, conversation_id, object_key, name, content_type, size_bytes, sha256, source)
         values ('thumbnail', $1, $2, 'picture.jpg', 'image/jpeg', $3, repeat('0', 64), 'test')`,
        [id, key, picture.byteLength],
      );
    }
  }
  const pictures = [Buffer.from('the first picture'), Buffer.from('the second picture')];
  const asked = (before: number): number =>
    youtube.seen.slice(before).filter(({ location: place }) => place === 'thumbnail').length;
  const shown = async (id: number): Promise<unknown> =>
    (await waitFor(async () => (await record(id)) as { value: { thumbnail: unknown } } | undefined)).value.thumbnail;

  it('sends the first thumbnail of the conversation, and records the largest image that the host generated from it', async () => {
    const id = await hold();
    await addThumbnails(id, ...pictures);
    await enter(id);
    await jobs.waitForState(id);
    const video = youtube.videos.at(-1);
    expect(video?.thumbnail).toEqual(pictures[0]);
    expect(await shown(id)).toBe(`https://i.ytimg.example/${video?.id}/maxresdefault.jpg`);
  });

  it('sets no thumbnail and publishes nothing when the job is repeated without changes', async () => {
    const id = await hold();
    await addThumbnails(id, ...pictures);
    await enter(id);
    await jobs.waitForState(id);
    await shown(id);
    const first = await record(id);
    const before = youtube.seen.length;
    const reports = () =>
      fixture.env.sql<{ published: string }>(
        `select result->>'published' as published from conversations.jobs
         where type = 'conversations.pipeline-finished' and payload->>'conversation_id' = $1 and state = 'succeeded' order by id`,
        [String(id)],
      );
    await jobs.requeue(id);
    expect((await jobs.waitForState(id)).result).toMatchObject({ status: 'unchanged' });
    await waitFor(async () => (await reports()).length === 2);
    expect([(await reports()).map(({ published }) => published), await record(id), asked(before)]).toEqual([
      ['true', 'false'],
      first,
      0,
    ]);

    await fixture.env.sql(
      `update media.blobs set sha256 = repeat('1', 64) where conversation_id = $1 and kind = 'thumbnail'`,
      [id],
    );
    await jobs.requeue(id);
    await jobs.waitForState(id);
    expect(asked(before)).toBe(1);
  });

  it('adds a note when the host rejects the thumbnail, and publishes the video with an image of the host', async () => {
    const id = await hold();
    await addThumbnails(id, ...pictures);
    youtube.fail('thumbnail', { kind: 'status', status: 403, reason: 'forbidden' });
    await enter(id);
    const { attempts, result } = await jobs.waitForState(id);
    expect([attempts, result]).toEqual([1, expect.objectContaining({ status: 'published' })]);
    const video = youtube.videos.at(-1);
    expect([video?.thumbnail, await shown(id)]).toEqual([
      undefined,
      `https://i.ytimg.example/${video?.id}/default.jpg`,
    ]);
    expect((await fixture.listNotes(id)).map(({ body }) => body)).toContainEqual(
      expect.stringMatching(/; the video host rejected the thumbnail: the host answered 403 \(forbidden\)$/),
    );
  });

  it.each([
    ['an answer that is lost', { kind: 'answer_lost' }, /the exchange failed/],
    ['a host that is away', { kind: 'status', status: 503 }, 'the host answered 503 (backendError)'],
  ] as const)(
    'sets the thumbnail after %s in the next attempt, without a second upload of the video',
    async (_what, fault, error) => {
      const id = await hold();
      await addThumbnails(id, ...pictures);
      const count = youtube.videos.length;
      youtube.fail('thumbnail', fault);
      await enter(id);
      await jobs.waitForError(id, error);
      expect(await record(id)).toBeUndefined();
      await jobs.makeDue();
      await jobs.waitForState(id);
      expect([youtube.videos.length, youtube.videos.at(-1)?.thumbnail]).toEqual([count + 1, pictures[0]]);
      expect(await shown(id)).toMatch(/maxresdefault/);
    },
  );

  it.each([
    ['the configuration says so', 'bare', pictures],
    ['it is larger than the host takes', 'published', [Buffer.alloc(2 * 1_048_576 + 1)]],
    ['there is none', 'published', []],
  ])('sends no thumbnail to the host when %s', async (_what, journey, given) => {
    const id = await hold({ journey });
    await addThumbnails(id, ...given);
    const before = youtube.seen.length;
    await enter(id);
    await jobs.waitForState(id);
    expect([asked(before), await shown(id)]).toEqual([
      0,
      `https://i.ytimg.example/${youtube.videos.at(-1)?.id}/default.jpg`,
    ]);
  });
});

describe('a URL returned by the video host (architecture#outgoing-calls)', () => {
  let inner: InnerServer;
  beforeAll(async () => (inner = await startInnerServer()));
  afterAll(() => inner.stop());

  it.each([
    'http://127.0.0.1:PORT/upload?upload_id=hush',
    'https://127.0.0.1:PORT/upload?upload_id=hush',
    'http://localhost:PORT/upload?upload_id=hush',
    'http://[::1]:PORT/upload?upload_id=hush',
    'http://[::ffff:127.0.0.1]:PORT/upload?upload_id=hush',
    'http://2130706433:PORT/upload?upload_id=hush',
    'http://169.254.169.254/latest/meta-data/?upload_id=hush',
    'https://elsewhere.googleapis.com/upload?upload_id=hush',
    '//127.0.0.1:PORT/upload?upload_id=hush',
    'HOST.elsewhere.example:PORT/upload?upload_id=hush',
    'HOST@127.0.0.1:PORT/upload?upload_id=hush',
    'file:///etc/passwd?upload_id=hush',
    'hush',
  ])('sends neither the file nor the token when the upload URL is %s', async (address) => {
    const { hostname } = new URL(youtube.baseUrl);
    const location = address.replace('HOST', `http://${hostname}`).replace('PORT', String(inner.port));
    const id = await hold();
    const before = youtube.seen.length;
    youtube.fail('begin', { kind: 'upload_at', location });
    await enter(id);
    const { error } = await jobs.waitForState(id, 'dead');
    expect(error).toBe('the host returned a foreign address for the upload');
    expect([placesSince(before).at(-1), inner.seen]).toEqual(['begin', []]);
  });

  it.each(['token', 'begin', 'chunk'] as const)(
    'does not follow a redirect of the video host from %s',
    async (place) => {
      const id = await hold();
      youtube.fail(place, { kind: 'redirect', location: `http://127.0.0.1:${inner.port}/redirected` });
      await enter(id);
      expect((await jobs.waitForState(id, 'dead')).error).toContain('307');
      expect(inner.seen).toEqual([]);
    },
  );
});

const journey = (slug: string, config: Record<string, unknown>): unknown =>
  conversationJourney(slug, { slug: 'publish', title: 'Publish', pipeline_job: 'videohost_publish', config });

const workspace = (videohost_refresh_token: string): unknown => ({
  journeys: [
    journey('published', { privacy: 'private', tags: ['coherence'], videohost_refresh_token }),
    journey('bare', { set_thumbnail: false, videohost_refresh_token }),
  ],
  people: [{ key: 'ada', name: 'Ada', contact: { email: 'ada@example.org' } }],
  holons: ['published', 'bare'].map((slug) => ({
    slug: `event-${slug}`,
    name: slug,
    class: 'event',
    parent: null,
    journeys: [slug],
  })),
});
