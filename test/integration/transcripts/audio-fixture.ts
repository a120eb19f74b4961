/**
 * Fixture for audio transcription: the transcript import fixture with the media service and a simulated speech-to-text
 * server.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  contextFor,
  conversationJourney,
  provideFfmpeg,
  fastJobTuning,
  startLlm,
  startService,
  watchJobs,
  type JobWatch,
  type LlmServer,
} from '#libs/product/testing';
import { conversations } from '#services/conversations';
import { directory } from '#services/directory';
import { media as contract, mediaPaths } from '#services/media';
import { startTranscriptFixture, type Meeting, type MeetOptions, type TranscriptFixture } from './fixture.ts';

export interface AudioFixture extends TranscriptFixture {
  readonly llm: LlmServer;
  /** Creates a conversation whose step transcribes its audio. */
  hold(options: MeetOptions & { audio?: Buffer; name?: string }): Promise<Meeting>;
  upload(id: number, audio: Buffer, name?: string): Promise<void>;
  startTranscripts(overrides?: Record<string, string>): Promise<{ stop(): Promise<void> }>;
  /** Returns the stored rows: start and end in seconds from the start of the window, and the text. */
  rows(id: number): Promise<[number, number, string][]>;
  /** Watches the transcription jobs. */
  readonly jobs: JobWatch;
  stepOf(id: number): Promise<string | null>;
  notes(id: number): Promise<string[]>;
  /**
   * Returns audio with tones and silence; durations are in seconds, and the extension of the file name selects the
   * format.
   */
  makeAudio(plan: readonly (readonly ['tone' | 'silence', number])[], name?: string): Promise<Buffer>;
  /** Returns the length of an audio file in seconds. */
  measure(audio: Buffer): Promise<number>;
}

const run = promisify(execFile);

export async function startAudioFixture(fileUrl: string): Promise<AudioFixture> {
  const programs = await provideFfmpeg();
  const fixture = await startTranscriptFixture(fileUrl, {}, { runsImporter: false });
  const { env, bus } = fixture;
  const llm = await startLlm();
  env.onStop(() => llm.stop());
  const media = await startService('media', env, { FFMPEG_PATH: programs.ffmpeg, PORT: '0' });
  const mediaUrl = `http://127.0.0.1:${(media as unknown as { internalPort: number }).internalPort}`;
  await bus.call(
    directory.rpcs.applyWorkspace,
    { document: workspace, dry_run: false },
    contextFor(directory.rpcs.applyWorkspace),
  );
  const folder = await mkdtemp(join(tmpdir(), 'audio-'));
  env.onStop(() => rm(folder, { recursive: true, force: true }));
  const settings = {
    ...fixture.settings,
    MEDIA_INTERNAL_URL: mediaUrl,
    LLM_BASE_URL: llm.baseUrl,
    LLM_API_KEY: llm.apiKey,
    TRANSCRIPTION_MODEL: 'scripted-ears',
    TRANSCRIPTION_PART_SECONDS: '5',
    FFMPEG_PATH: programs.ffmpeg,
    TRANSCRIPTION_SCRATCH_DIR: join(folder, 'scratch'),
  };
  let files = 0;

  const audioStage: AudioFixture = {
    ...fixture,
    settings,
    llm,
    hold: async ({ audio, name, ...options }) => {
      const meeting = await fixture.meet({
        journey: 'spoken',
        hasMeeting: false,
        hasSession: false,
        ...options,
        isRecorded: false,
      });
      if (audio !== undefined) await audioStage.upload(meeting.id, audio, name);
      if (options.isRecorded !== false) await meeting.recorded();
      return meeting;
    },
    upload: async (id, audio, name = 'talk.ogg') => {
      const { issueUploadTicket } = contract.rpcs;
      const { ticket } = await bus.call(
        issueUploadTicket,
        { conversation_id: id, kind: 'audio' },
        contextFor(issueUploadTicket),
      );
      const url = `${mediaUrl}${mediaPaths.conversationAudio(id)}?name=${name}`;
      const reply = await fetch(url, {
        method: 'PUT',
        body: new Uint8Array(audio),
        headers: { 'request-id': 'test', ticket },
      });
      if (!reply.ok) throw new Error(`the upload was answered ${reply.status}: ${await reply.text()}`);
    },
    startTranscripts: (overrides = {}) =>
      startService('transcripts', env, { ...settings, ...overrides }, { tuning: fastJobTuning }),
    rows: async (id) => {
      const rows = await env.sql<{ start_us: number; end_us: number; text: string }>(
        'select start_us::float8, end_us::float8, text from transcripts.transcript_rows where conversation_id = $1 order by start_us, position',
        [id],
      );
      return rows.map((row) => [row.start_us / 1e6, row.end_us / 1e6, row.text]);
    },
    jobs: watchJobs(env, 'transcripts.audio-transcription'),
    stepOf: async (id) =>
      (await bus.call(conversations.rpcs.get, { conversation_id: id }, contextFor(conversations.rpcs.get))).step_slug,
    notes: async (id) =>
      (
        await bus.call(
          conversations.rpcs.listConversationNotes,
          { conversation_id: id },
          contextFor(conversations.rpcs.listConversationNotes),
        )
      ).items.map(({ body }) => body),
    makeAudio: async (plan, name = 'talk.ogg') => {
      const file = join(folder, `${++files}-${name}`);
      const inputs = plan.flatMap(([kind, seconds]) => [
        '-f',
        'lavfi',
        '-i',
        kind === 'tone'
          ? `sine=frequency=440:sample_rate=44100:duration=${seconds}`
          : `anullsrc=r=44100:cl=mono:d=${seconds}`,
      ]);
      const joined = `concat=n=${plan.length}:v=0:a=1`;
      await run(programs.ffmpeg, ['-loglevel', 'error', '-nostdin', '-y', ...inputs, '-filter_complex', joined, file]);
      return readFile(file);
    },
    measure: async (audio) => {
      const file = join(folder, `${++files}-measured`);
      await writeFile(file, audio);
      const { stdout } = await run(programs.ffprobe, [
        '-v',
        'error',
        '-show_entries',
        'format=duration',
        '-of',
        'csv=p=0',
        file,
      ]);
      return Number(stdout);
    },
  };
  return audioStage;
}

const journey = (slug: string, config: unknown): unknown =>
  conversationJourney(
    slug,
    { slug: 'transcribe', title: 'Transcribe', pipeline_job: 'audio_transcription', config },
    { slug: 'review', title: 'Review' },
  );

const journeys: Record<string, unknown> = {
  spoken: {},
  early: { audio_offset_seconds: -2, language: 'de', vocabulary: 'Coherence, holon', advance_on_success: true },
  again: { replace_existing: true },
};

const workspace = {
  journeys: Object.entries(journeys).map(([slug, config]) => journey(slug, config)),
  holons: Object.keys(journeys).map((slug) => ({
    slug: `event-${slug}`,
    name: slug,
    class: 'event',
    parent: null,
    journeys: [slug],
  })),
};
