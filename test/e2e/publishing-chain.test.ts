/** A recorded meeting becomes, step by step and by itself, what people watch and read. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  playBytes,
  provideFfmpeg,
  provideTimeoutMs,
  startLlm,
  startRealtimeKit,
  type LlmServer,
  type RealtimeKitServer,
} from '#libs/testing';
import { makeClock } from '../integration/media/talking-clock.ts';
import { applyDemo, createConversation, eventually, startWorld, type Demo, type World } from './world.ts';

let provider: RealtimeKitServer;
let llm: LlmServer;
let world: World;
let demo: Demo;
let video: Buffer;

beforeAll(async () => {
  const programs = await provideFfmpeg();
  video = await makeClock(programs, 10, 2);
  provider = await startRealtimeKit();
  llm = await startLlm();
  world = await startWorld(import.meta.url, {
    REALTIMEKIT_BASE_URL: provider.baseUrl,
    REALTIMEKIT_API_TOKEN: provider.apiToken,
    LLM_BASE_URL: llm.baseUrl,
    LLM_API_KEY: llm.apiKey,
    TRANSCRIPTION_MODEL: 'scripted-ears',
    FFMPEG_PATH: programs.ffmpeg,
  });
  const config = { advance_on_success: true };
  demo = await applyDemo(world, 'chain', [
    { slug: 'held', title: 'Held' },
    { slug: 'recording', title: 'Recording', pipeline_job: 'recording_import', config },
    { slug: 'transcript', title: 'Transcript', pipeline_job: 'audio_transcription', config },
    { slug: 'texts', title: 'Texts', pipeline_job: 'publishing_summary', config },
    { slug: 'published', title: 'Published' },
  ]);
}, provideTimeoutMs);
afterAll(async () => {
  await world.stop();
  await Promise.all([provider.stop(), llm.stop()]);
});

describe('from /recorded to browse (rules/steps#pipeline-jobs; rules/conversations#recorded, rules/discovery#publicconversation)', () => {
  it('imports and trims the recording, transcribes the audio, writes the texts, and browse shows title, summary and thumbnail', async () => {
    const { id } = await createConversation(world, demo);
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
    const texts = { title: 'Rivers and stories', summary: 'A talk about what rivers carry.', videohost_description: 'About rivers.' };
    const written = Promise.withResolvers<string>();
    llm.answerSummaryWith(() => written.promise);
    const room = await world.client.writeRoom({
      path: { conversation_id: id },
      body: {
        meetingId: 'meeting-1',
        recordingId: 'recording-1',
        conversationStartedAt: '2026-05-01T10:00:03Z',
        captureEndedAt: '2026-05-01T10:00:09Z',
      },
    });
    expect(room.status).toBe(200);
    const token = await world.login('ada-chain@example.org', 'secret-of-ada-chain');
    const form = new FormData();
    form.set('audio', new Blob([new Uint8Array(video)]), 'talk.m4a');
    expect((await world.call('POST', `${base}/audio`, { token, body: form })).status).toBe(201);
    expect((await world.call('POST', `${base}/recorded`, { json: {} })).status).toBe(200);

    const idOf = async (): Promise<string | undefined> =>
      (await world.sql<{ id: string }>(`select id::text from agents.jobs where type = 'agents.publishing-summary'`))[0]?.id;
    await eventually(async () => expect(llm.summaryRequests).toHaveLength(1), 80_000);
    await eventually(async () =>
      expect((await world.cli('jobs', 'show', (await idOf()) ?? '')).stdout).toMatch(/running[^]* 10 %[^]*phase: *summarising/),
    );
    written.resolve(JSON.stringify(texts));
    await eventually(async () => {
      const { json } = await world.call('GET', base);
      if (json.step_slug !== 'published') throw new Error(`${json.step_slug}: ${(await world.cli('jobs', 'list')).stdout}`);
    }, 80_000);
    const { json } = await world.call('GET', `/api/coherence/browse/conversations?journey_slug=${demo.journey}`);
    const [shown] = json.conversations;
    expect(shown).toMatchObject({ id, title: texts.title });
    expect(JSON.stringify(shown)).not.toContain('provenance');
    expect(shown.public).toMatchObject({ summary: texts.summary, videohost_description: texts.videohost_description });
    const picture = await fetch(new URL(shown.public.thumbnail as string, world.baseUrl));
    expect([picture.status, picture.headers.get('content-type')]).toEqual([200, 'image/jpeg']);
    expect((await world.call('GET', `${base}/transcript`)).text).toContain('Rivers carry stories to the sea.');
    expect((await world.cli('jobs', 'show', (await idOf()) ?? '')).stdout).toMatch(/succeeded[^]*phase: [^]*written/);
  });
});
