/** A recorded meeting passes through all steps to its publication; the feed reports each step. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  playBytes,
  provideFfmpeg,
  provideTimeoutMs,
  startLlm,
  startRealtimeKit,
  startYoutube,
  type LlmServer,
  type RealtimeKitServer,
  type YoutubeServer,
} from '#libs/product/testing';
import type { PlatformEvent } from '../../clients/typescript/index.ts';
import { makeClock } from '../integration/media/talking-clock.ts';
import {
  applyDemo,
  createConversation,
  eventually,
  startTestPlatform,
  type Demo,
  type TestPlatform,
} from './test-platform.ts';

let provider: RealtimeKitServer;
let llm: LlmServer;
let youtube: YoutubeServer;
let platform: TestPlatform;
let demo: Demo;
let video: Buffer;
/** The conversation, and the cursor from before its creation. */
let id: number;
let begin: string;
let root: string;

beforeAll(async () => {
  const programs = await provideFfmpeg();
  video = await makeClock(programs, 10, 2);
  provider = await startRealtimeKit();
  llm = await startLlm();
  youtube = await startYoutube();
  platform = await startTestPlatform(import.meta.url, {
    REALTIMEKIT_BASE_URL: provider.baseUrl,
    REALTIMEKIT_API_TOKEN: provider.apiToken,
    LLM_BASE_URL: llm.baseUrl,
    LLM_API_KEY: llm.apiKey,
    TRANSCRIPTION_MODEL: 'scripted-ears',
    FFMPEG_PATH: programs.ffmpeg,
    YOUTUBE_CLIENT_ID: youtube.clientId,
    YOUTUBE_CLIENT_SECRET: youtube.clientSecret,
    YOUTUBE_API_URL: youtube.baseUrl,
    YOUTUBE_TOKEN_URL: youtube.tokenUrl,
  });
  const config = { advance_on_success: true };
  demo = await applyDemo(platform, 'chain', [
    { slug: 'held', title: 'Held' },
    { slug: 'recording', title: 'Recording', pipeline_job: 'recording_import', config },
    { slug: 'transcript', title: 'Transcript', pipeline_job: 'audio_transcription', config },
    { slug: 'texts', title: 'Texts', pipeline_job: 'publishing_summary', config },
    {
      slug: 'shown',
      title: 'Shown',
      pipeline_job: 'videohost_publish',
      config: { ...config, videohost_refresh_token: youtube.refreshToken },
    },
    { slug: 'published', title: 'Published' },
  ]);
  root = await platform.login('root-chain@example.org', 'secret-of-root-chain');
  begin = (await platform.client.withToken(root).listEvents({ query: { after: 'latest' } })).body.next;
  await watchTransactions();
}, provideTimeoutMs);
afterAll(async () => {
  await platform.stop();
  await Promise.all([provider.stop(), llm.stop(), youtube.stop()]);
});

/** Records for each transaction which events it published, and for which event types the data changed. */
async function watchTransactions(): Promise<void> {
  const trigger = (name: string, on: string, body: string): string[] => [
    `create function public.${name}() returns trigger language plpgsql security definer as $$ begin ${body} return null; end $$`,
    `create trigger ${name} after ${on} for each row execute function public.${name}()`,
  ];
  const changed = (type: string, path: string): string =>
    `if new.infos #> '${path}' is distinct from old.infos #> '${path}' then insert into public.seen (kind, type) values ('changed', '${type}'); end if;`;
  for (const statement of [
    'create table public.seen (kind text, type text, transaction xid8 default pg_current_xact_id())',
    ...trigger(
      'told',
      'insert on conversations.feed_outbox',
      `insert into public.seen (kind, type) values ('told', new.type);`,
    ),
    ...trigger(
      'asked',
      'insert on conversations.question_changes',
      `insert into public.seen (kind, type) values ('changed', 'question.changed');`,
    ),
    ...trigger(
      'changed',
      'update on conversations.all_conversations',
      changed('audio.uploaded', '{audio}') +
        changed('summary.written', '{publishing,fields,summary}') +
        changed('videohost.published', '{publishing,records,videohost}'),
    ),
  ])
    await platform.sql(statement);
}

describe('recorded conversation to public page (rules/steps#pipeline-jobs; rules/conversations#recorded, rules/discovery#publicconversation)', () => {
  it('imports and trims the recording, transcribes the audio, writes the texts, and returns title, summary and thumbnail in browse', async () => {
    ({ id } = await createConversation(platform, demo));
    const base = `/api/coherence/conversations/${id}`;
    provider.setRecording({
      id: 'recording-1',
      meetingId: 'meeting-1',
      status: 'UPLOADED',
      startedAt: '2026-05-01T10:00:00.000Z',
      stoppedAt: '2026-05-01T10:00:10.000Z',
      content: playBytes(video, '"clock"'),
    });
    llm.transcribeWith(() => [{ start: 0.5, end: 2, text: ' Rivers carry stories to the sea.' }]);
    const texts = {
      title: 'Rivers and stories',
      summary: 'A talk about what rivers carry.',
      videohost_description: 'About rivers.',
    };
    const written = Promise.withResolvers<string>();
    llm.answerSummaryWith(() => written.promise);
    const room = await platform.client.writeRoom({
      path: { conversation_id: id },
      body: {
        meetingId: 'meeting-1',
        recordingId: 'recording-1',
        conversationStartedAt: '2026-05-01T10:00:03Z',
        captureEndedAt: '2026-05-01T10:00:09Z',
      },
    });
    expect(room.status).toBe(200);
    const token = await platform.login('ada-chain@example.org', 'secret-of-ada-chain');
    const form = new FormData();
    form.set('audio', new Blob([new Uint8Array(video)]), 'talk.m4a');
    expect((await platform.call('POST', `${base}/audio`, { token, body: form })).status).toBe(201);
    const question = {
      questionId: (await platform.call('GET', base)).json.questions[0].id,
      occurredAt: '2026-05-01T10:00:04Z',
    };
    for (const status of [201, 200]) {
      const asked = await platform.call('POST', `${base}/question-changes`, {
        json: question,
        headers: { 'idempotency-key': 'first' },
      });
      expect(asked.status).toBe(status);
    }
    expect((await platform.call('POST', `${base}/recorded`, { json: {} })).status).toBe(200);

    const idOf = async (): Promise<string | undefined> =>
      (
        await platform.sql<{ id: string }>(`select id::text from agents.jobs where type = 'agents.publishing-summary'`)
      )[0]?.id;
    await eventually(async () => expect(llm.summaryRequests).toHaveLength(1), 80_000);
    await eventually(async () =>
      expect((await platform.cli('jobs', 'show', (await idOf()) ?? '')).stdout).toMatch(
        /running[^]* 10 %[^]*phase: *writing the summary/,
      ),
    );
    written.resolve(JSON.stringify(texts));
    await eventually(async () => {
      const { json } = await platform.call('GET', base);
      if (json.step_slug !== 'published')
        throw new Error(`${json.step_slug}: ${(await platform.cli('jobs', 'list')).stdout}`);
    }, 80_000);
    const { json } = await platform.call('GET', `/api/coherence/browse/conversations?journey_slug=${demo.journey}`);
    const [shown] = json.conversations;
    expect(shown).toMatchObject({ id, title: texts.title });
    expect(JSON.stringify(shown)).not.toContain('provenance');
    expect(shown.public).toMatchObject({ summary: texts.summary, videohost_description: texts.videohost_description });
    const picture = await fetch(new URL(shown.public.thumbnail as string, platform.baseUrl));
    expect([picture.status, picture.headers.get('content-type')]).toEqual([200, 'image/jpeg']);
    expect((await platform.call('GET', `${base}/transcript`)).text).toContain('Rivers carry stories to the sea.');
    expect((await platform.cli('jobs', 'show', (await idOf()) ?? '')).stdout).toMatch(
      /succeeded[^]*phase: [^]*written/,
    );
  });

  it('publishes one event for each step, in the transaction of the change (rules/events#types; V1, V2, V9)', async () => {
    const [question] = (await platform.call('GET', `/api/coherence/conversations/${id}`)).json.questions;
    const following = platform.client.withToken(root).events({ after: begin, subject: { type: 'conversation', id } });
    const told: PlatformEvent[] = [];
    for await (const event of following) {
      told.push(event);
      if (event.type === 'conversation.step_entered' && event.data.step === 'published') break;
    }
    const whole = await platform.client
      .withToken(root)
      .listEvents({ query: { after: begin, subject_type: 'conversation', subject_id: id, limit: 500 } });
    expect(whole.body.items).toEqual(told);
    const step = (slug: string): [string, object] => [
      'conversation.step_entered',
      expect.objectContaining({ step: slug }),
    ];
    // Other updates are not relevant here.
    expect(told.filter(({ type }) => type !== 'conversation.updated').map(({ type, data }) => [type, data])).toEqual([
      ['conversation.created', expect.objectContaining({ journey: demo.journey })],
      step('held'),
      ['conversation.room_updated', {}],
      ['audio.uploaded', {}],
      ['question.changed', { question_id: question.id }],
      ['conversation.recorded', {}],
      step('recording'),
      ['video.available', {}],
      step('transcript'),
      ['transcript.imported', {}],
      step('texts'),
      ['summary.written', {}],
      step('shown'),
      ['videohost.published', {}],
      step('published'),
    ]);
    const types = ['audio.uploaded', 'question.changed', 'summary.written', 'videohost.published'];
    const seen = await platform.sql<{ type: string; told: string }>(
      `select type, count(*) as told from public.seen t where kind = 'told' and type = any($1)
         and exists (select from public.seen c where c.kind = 'changed' and c.type = t.type and c.transaction = t.transaction)
       group by type order by type`,
      [types],
    );
    expect(seen.map(({ type, told: times }) => [type, Number(times)])).toEqual(types.map((type) => [type, 1]));
  });
});
