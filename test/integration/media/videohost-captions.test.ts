import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  conversationJourney,
  type JobWatch,
  fastJobTuning,
  startService,
  startYoutube,
  waitFor,
  watchJobs,
  type PlayedVideo,
  type YoutubeServer,
} from '#libs/product/testing';
import { conversations } from '#services/conversations';
import { directory } from '#services/directory';
import { media, mediaPaths } from '#services/media';
import { transcripts } from '#services/transcripts';
import { startMediaFixture, type MediaFixture } from './fixture.ts';
import { byCli } from '../directory/erase.ts';

let fixture: MediaFixture;
let youtube: YoutubeServer;
let published: JobWatch;
let sent: JobWatch;
let mediaUrl = '';
let people: Record<string, number> = {};
let hour = 0;

beforeAll(async () => {
  fixture = await startMediaFixture(import.meta.url);
  youtube = await startYoutube();
  fixture.env.onStop(() => youtube.stop());
  published = watchJobs(fixture.env, 'media.videohost-publish');
  sent = watchJobs(fixture.env, 'media.send-captions');
  const { ids } = await fixture.call(directory.rpcs.applyWorkspace, {
    document: workspace(youtube.refreshToken),
    dry_run: false,
  });
  people = ids['people'] ?? {};
  await startService('transcripts', fixture.env, {}, { tuning: fastJobTuning });
  const settings = {
    ...fixture.mediaSettings,
    YOUTUBE_CLIENT_ID: youtube.clientId,
    YOUTUBE_CLIENT_SECRET: youtube.clientSecret,
    YOUTUBE_API_URL: youtube.baseUrl,
    YOUTUBE_TOKEN_URL: youtube.tokenUrl,
    PORT: '0',
  };
  const service = await startService('media', fixture.env, settings, { tuning: fastJobTuning });
  mediaUrl = `http://127.0.0.1:${(service as unknown as { internalPort: number }).internalPort}`;
});
afterAll(() => fixture.stop());

/** Creates a conversation with a recording and returns its id. */
async function hold(journey = 'published'): Promise<number> {
  const time = new Date(Date.UTC(2027, 0, 1) - ++hour * 3_600_000).toISOString();
  const [found] = await fixture.call(conversations.rpcs.findActive, { person_id: people['ada'] ?? 0, journey, time });
  const id = found?.id ?? 0;
  const { ticket } = await fixture.call(media.rpcs.issueUploadTicket, { conversation_id: id, kind: 'full' });
  const headers = { 'request-id': 'test', ticket };
  const reply = await fetch(`${mediaUrl}${mediaPaths.recording(id, 'full')}?name=talk.mp4`, {
    method: 'PUT',
    body: `film ${id}`,
    headers,
  });
  expect(reply.status).toBeLessThan(300);
  return id;
}

async function publish(id: number): Promise<PlayedVideo> {
  await fixture.call(conversations.rpcs.recorded, { conversation_id: id, idempotency_key: null, write: {} });
  await published.waitForState(id);
  const digest = createHash('sha256').update(`film ${id}`).digest('hex');
  const video = youtube.videos.find(({ sha256 }) => sha256 === digest);
  if (video === undefined) throw new Error('no video');
  return video;
}

/** Replaces the transcript with a bulk import. */
async function say(id: number, ...rows: [who: string | null, text: string][]): Promise<void> {
  const items = [
    {
      conversation_id: id,
      rows: rows.map(([who, text], index) => ({
        start_ms: index * 2_000,
        end_ms: index * 2_000 + 1_500,
        person_id: who === null ? null : (people[who] ?? 0),
        speaker: null,
        text,
      })),
    },
  ];
  const before = await followed(id);
  await fixture.call(transcripts.rpcs.installLegacy, { items, dry_run: false });
  await waitFor(async () => (await followed(id)) > before, { what: 'the news of the transcript' });
}

/** Returns the number of transcript events of the conversation that the service has processed. */
async function followed(id: number): Promise<number> {
  const rows = await fixture.env.sql(
    `select 1 from media.jobs where type = 'media.follow-transcripts' and state = 'succeeded' and payload->'conversation_ids' @> to_jsonb($1::integer)`,
    [id],
  );
  return rows.length;
}

/** Returns the outcomes of all jobs of the conversation, once `count` jobs have ended. */
async function outcomes(id: number, count: number): Promise<unknown[]> {
  await waitFor(async () => (await sent.list(id)).length >= count, { what: `${count} sendings` });
  await sent.waitForState(id);
  return (await sent.list(id)).map(({ result }) => ((result?.['captions'] ?? []) as unknown[])[0]);
}
const texts = (video: PlayedVideo): string[] => video.captions.map(({ text }) => text);
const askedSince = (before: number): string[] =>
  youtube.seen.slice(before).flatMap(({ location: place }) => (place.startsWith('captions ') ? [place] : []));
const notes = async (id: number): Promise<string[]> => (await fixture.listNotes(id)).map(({ body }) => body);

describe('captions on the video host (rules/steps#captions-on-the-video-host; T4, T5)', () => {
  it('uploads captions with the video, in the language configured in the step', async () => {
    const id = await hold('german');
    await say(id, ['ada', 'Guten Morgen.'], [null, 'Ja --> nein']);
    const video = await publish(id);
    expect(await outcomes(id, 1)).toEqual(['sent']);
    expect(video.captions).toEqual([
      {
        id: expect.any(String),
        language: 'de',
        name: 'Transcript',
        isDraft: false,
        text: 'WEBVTT\n\n00:00:00.000 --> 00:00:01.500\n<v Ada>Guten Morgen.\n\n00:00:02.000 --> 00:00:03.500\n<v Unresolved speaker 1>Ja --&gt; nein\n',
      },
    ]);
  });

  it('uploads captions when a transcript exists, replaces them when it changes, and uploads none when it is unchanged', async () => {
    const id = await hold();
    const video = await publish(id);
    expect([await outcomes(id, 1), video.captions]).toEqual([['none'], []]);
    const before = youtube.seen.length;
    await say(id, ['ada', 'First words.']);
    expect(await outcomes(id, 2)).toEqual(['none', 'sent']);
    await say(id, ['ada', 'Other words.']);
    expect(await outcomes(id, 3)).toEqual(['none', 'sent', 'replaced']);
    expect(texts(video)).toEqual([expect.stringContaining('Other words.')]);
    await sent.requeue(id);
    await sent.waitForState(id);
    expect((await sent.latest(id))?.result).toEqual({ captions: ['unchanged'] });
    expect(askedSince(before)).toEqual(['captions insert', 'captions update']);
  });

  it("omits text and name of an erased person in captions, uses the surviving person's name after a merge, and deletes captions with the transcript", async () => {
    const id = await hold();
    await say(id, ['ben', 'Secret words.'], ['ada', 'Mine.'], ['cleo', 'Hers.']);
    const video = await publish(id);
    expect(await outcomes(id, 1)).toEqual(['sent']);
    await fixture.call(transcripts.rpcs.erasePerson, {
      person_id: people['ben'] ?? 0,
      after: 0,
      dry_run: true,
      by: byCli,
    });
    await fixture.call(transcripts.rpcs.erasePerson, {
      person_id: people['ben'] ?? 0,
      after: 0,
      dry_run: false,
      by: byCli,
    });
    expect(await outcomes(id, 2)).toEqual(['sent', 'replaced']);
    expect(texts(video)).toEqual([
      expect.stringMatching(/<v Unresolved speaker 1>\[removed\]\n[^]*<v Ada>Mine\.\n[^]*<v Cleo>Hers\./),
    ]);
    const ids = { gone_id: people['cleo'] ?? 0, into_id: people['ada'] ?? 0 };
    await fixture.bus.call(transcripts.rpcs.mergePerson, { ...ids, after: 0 }, { requestId: 'test' });
    expect(await outcomes(id, 3)).toEqual(['sent', 'replaced', 'replaced']);
    expect(texts(video)).toEqual([expect.stringContaining('<v Ada>Hers.')]);
    await say(id);
    expect(await outcomes(id, 4)).toEqual(['sent', 'replaced', 'replaced', 'removed']);
    expect(video.captions).toEqual([]);
  });

  it('adds a note when the host rejects captions, keeps the video, and sends the captions of the next change', async () => {
    const id = await hold();
    await say(id, ['ada', 'Words.']);
    youtube.fail('captions insert', { kind: 'status', status: 403, reason: 'forbidden' });
    const video = await publish(id);
    expect((await published.latest(id))?.result).toMatchObject({ status: 'published' });
    expect(await outcomes(id, 1)).toEqual(['refused']);
    const refusal = 'videohost_publish: the video host rejected the captions: the host answered 403 (forbidden)';
    await waitFor(async () => (await notes(id)).includes(refusal), { what: 'the note' });
    await say(id, ['ada', 'More words.']);
    expect(await outcomes(id, 2)).toEqual(['refused', 'sent']);
    expect(texts(video)).toEqual([expect.stringContaining('More words.')]);
  });

  it('adds a note when the job of captions that could not be sent is dead', async () => {
    const id = await hold();
    await say(id, ['ada', 'Words.']);
    for (let attempt = 0; attempt < 2; attempt++)
      youtube.fail('captions insert', { kind: 'status', status: 401, reason: 'authError' });
    await publish(id);
    expect(await sent.waitForState(id, 'dead')).toMatchObject({
      error: expect.stringContaining('the host rejected the access token'),
    });
    const text = 'videohost_publish: sending the captions failed: ';
    const note = await waitFor(async () => (await notes(id)).find((body) => body.startsWith(text)), {
      what: 'the note',
    });
    expect(note).toBe(`${text}the host rejected the access token`);
  });

  it('replaces the caption track after a lost response instead of adding a second one', async () => {
    const id = await hold();
    await say(id, ['ada', 'Words.']);
    youtube.fail('captions insert', { kind: 'answer_lost' });
    const before = youtube.seen.length;
    const video = await publish(id);
    await sent.waitForError(id, /the exchange failed/);
    await sent.makeDue();
    expect(await outcomes(id, 1)).toEqual(['sent']);
    expect(texts(video)).toEqual([expect.stringContaining('Words.')]);
    expect(askedSince(before)).toEqual(['captions insert', 'captions insert', 'captions list', 'captions update']);
  });

  it('sends captions after the quota of the host is renewed, and sends them again when they were deleted there', async () => {
    const id = await hold();
    await say(id, ['ada', 'Words.']);
    youtube.fail('captions insert', { kind: 'status', status: 403, reason: 'quotaExceeded' });
    const video = await publish(id);
    await sent.waitForError(id, 'the host answered 403 (quotaExceeded)');
    await sent.makeDue();
    expect(await outcomes(id, 1)).toEqual(['sent']);
    video.captions.splice(0);
    await say(id, ['ada', 'Other words.']);
    expect(await outcomes(id, 2)).toEqual(['sent', 'sent']);
    expect(texts(video)).toEqual([expect.stringContaining('Other words.')]);
  });

  it('sends no captions for a step without a language, or for an unpublished video', async () => {
    const silent = await hold('silent');
    await say(silent, ['ada', 'Words.']);
    const video = await publish(silent);
    expect([await outcomes(silent, 1), video.captions]).toEqual([['off'], []]);
    const unpublished = await hold();
    await say(unpublished, ['ada', 'Words.']);
    expect(await sent.list(unpublished)).toEqual([]);
  });
});

const journey = (slug: string, config: Record<string, unknown>): unknown =>
  conversationJourney(slug, { slug: 'publish', title: 'Publish', pipeline_job: 'videohost_publish', config });

const workspace = (videohost_refresh_token: string): unknown => ({
  journeys: [
    journey('published', { videohost_refresh_token }),
    journey('german', { captions_language: 'de', videohost_refresh_token }),
    journey('silent', { captions_language: '', videohost_refresh_token }),
  ],
  people: ['Ada', 'Ben', 'Cleo'].map((name) => ({
    key: name.toLowerCase(),
    name,
    contact: { email: `${name.toLowerCase()}@example.org` },
  })),
  holons: ['published', 'german', 'silent'].map((slug) => ({
    slug: `event-${slug}`,
    name: slug,
    class: 'event',
    parent: null,
    journeys: [slug],
  })),
});
