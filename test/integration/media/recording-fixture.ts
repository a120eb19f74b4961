/**
 * Fixture for recording imports: directory, conversations and media services, a simulated meeting provider, and
 * conversations that reach their import step.
 */
import {
  conversationJourney,
  fastJobTuning,
  startRealtimeKit,
  startService,
  watchJobs,
  type JobWatch,
  type PlayedContent,
  type RealtimeKitServer,
} from '#libs/product/testing';
import { conversations } from '#services/conversations';
import { directory } from '#services/directory';
import { media } from '#services/media';
import type { Programs } from './talking-clock.ts';
import { startMediaFixture, type MediaFixture } from './fixture.ts';

/** Start of recordings; conversations start `cutSeconds` later. */
export const recordingStart = '2030-01-15T10:00:00.000Z';

export interface RecordingFixture {
  readonly media: MediaFixture;
  readonly provider: RealtimeKitServer;
  /** Settings of the media service. */
  readonly settings: Readonly<Record<string, string>>;
  start(overrides?: Record<string, string>): Promise<{ stop(): Promise<void> }>;
  /** Creates a meeting whose conversation is in its import step. */
  meet(options: MeetOptions): Promise<Meeting>;
  /** Watches the import jobs. */
  readonly jobs: JobWatch;
  /** Returns the bytes of the stored recordings of this type; empty when none is stored. */
  stored(id: number, kind: BlobKind): Promise<Buffer[]>;
  /** Returns the object store keys of the conversation. */
  keys(id: number): Promise<string[]>;
  unfinished(id: number): Promise<number>;
  infos(id: number): Promise<Record<string, unknown>>;
  notes(id: number): Promise<string[]>;
  video(id: number): Promise<{ url: string; name: string }>;
}

export type BlobKind = 'recording_full' | 'recording_front_trimmed' | 'thumbnail';

export interface MeetOptions {
  readonly content?: PlayedContent;
  /** Seconds from the start of the recording to the start of the conversation; null: unknown. */
  readonly cutSeconds?: number | null;
  readonly journey?: 'circle' | 'plain' | 'moving' | 'still';
  readonly status?: string;
  readonly fileSize?: number | null;
  readonly hasRanges?: boolean;
  /** If false, the room does not contain the recording id, so the recording is found by its time. */
  readonly isNamed?: boolean;
}

export interface Meeting {
  readonly id: number;
  readonly meetingId: string;
  readonly recordingId: string;
  /** Changes the provider's data about the recording. */
  play(change: Partial<MeetOptions>): void;
  writeRoom(write: Record<string, unknown>): Promise<void>;
  delete(): Promise<void>;
}

export async function startRecordingFixture(fileUrl: string, programs: Programs): Promise<RecordingFixture> {
  const mediaFixture = await startMediaFixture(fileUrl);
  const provider = await startRealtimeKit();
  mediaFixture.env.onStop(() => provider.stop());
  const { env, call } = mediaFixture;
  const settings = {
    REALTIMEKIT_BASE_URL: provider.baseUrl,
    REALTIMEKIT_API_TOKEN: provider.apiToken,
    FFMPEG_PATH: programs.ffmpeg,
    MEDIA_SCRATCH_DIR: `${env.settings['WEBHOOK_SPOOL_DIR']}-scratch`,
  };
  const { ids } = await call(directory.rpcs.applyWorkspace, { document: workspace, dry_run: false });
  const personId = ids['people']?.['ada'] ?? 0;
  let count = 0;

  const fixture: RecordingFixture = {
    media: mediaFixture,
    provider,
    settings,
    start: (overrides = {}) =>
      startService(
        'media',
        env,
        { ...mediaFixture.mediaSettings, ...settings, ...overrides },
        { tuning: fastJobTuning },
      ),
    meet: async (options) => {
      count += 1;
      const time = new Date(Date.UTC(2028, 0, 1) - count * 3_600_000).toISOString();
      const journey = options.journey ?? 'circle';
      const [found] = await call(conversations.rpcs.findActive, { person_id: personId, journey, time });
      const id = found?.id ?? 0;
      const [meetingId, recordingId] = [`meeting-${count}`, `recording-${count}`];
      let played = options;
      const play = (change: Partial<MeetOptions>): void => {
        played = { ...played, ...change };
        const { content, fileSize, hasRanges } = played;
        provider.setRecording({
          id: recordingId,
          meetingId,
          status: played.status ?? 'UPLOADED',
          startedAt: recordingStart,
          stoppedAt: '2030-01-15T10:30:00.000Z',
          ...(content === undefined ? {} : { content }),
          ...(fileSize === undefined ? {} : { fileSize }),
          ...(hasRanges === undefined ? {} : { hasRanges }),
        });
      };
      play({});
      const writeRoom = async (write: Record<string, unknown>): Promise<void> => {
        await call(conversations.rpcs.writeRoom, { conversation_id: id, write });
      };
      const cut = options.cutSeconds === undefined ? 0 : options.cutSeconds;
      await writeRoom({
        meetingId,
        ...(options.isNamed === false ? {} : { recordingId }),
        ...(cut === null ? {} : { conversationStartedAt: atSeconds(cut) }),
      });
      await call(conversations.rpcs.recorded, { conversation_id: id, idempotency_key: null, write: {} });
      const remove = async (): Promise<void> => {
        await env.sql('delete from conversations.conversations where id = $1', [id]);
      };
      return { id, meetingId, recordingId, play, writeRoom, delete: remove };
    },
    jobs: watchJobs(env, 'media.recording-import'),
    stored: async (id, kind) => {
      const rows = await env.sql<{ object_key: string }>(
        `select object_key from media.blobs where conversation_id = $1 and kind = $2 and retired_at is null order by id`,
        [id, kind],
      );
      return Promise.all(rows.map(({ object_key: key }) => readObject(mediaFixture, key)));
    },
    keys: async (id) => {
      const found = await Promise.all(
        ['recordings', 'thumbnails'].map((folder) => Array.fromAsync(mediaFixture.store.list(`${folder}/${id}/`))),
      );
      return found.flat().map(({ key }) => key);
    },
    unfinished: async (id) => {
      const rows = await env.sql<{ object_key: string }>(
        `select object_key from media.recording_imports where conversation_id = $1`,
        [id],
      );
      const counts = await Promise.all(rows.map(({ object_key: key }) => mediaFixture.store.countUnfinished(key)));
      return counts.reduce((sum, item) => sum + item, 0);
    },
    infos: async (id) => (await call(conversations.rpcs.get, { conversation_id: id })).infos as Record<string, unknown>,
    notes: async (id) =>
      (await mediaFixture.listNotes(id)).filter((note) => note.note_type === 'system').map(({ body }) => body),
    video: (id) => call(media.rpcs.getVideo, { conversation_id: id }),
  };
  return fixture;
}

export function atSeconds(seconds: number): string {
  return new Date(Date.parse(recordingStart) + Math.round(seconds * 1000)).toISOString();
}

async function readObject(mediaFixture: MediaFixture, key: string): Promise<Buffer> {
  const object = await mediaFixture.store.get(key);
  if (object === undefined) throw new Error(`${key} is not in the object store`);
  return Buffer.concat(await Array.fromAsync(object.body as AsyncIterable<Buffer>));
}

/**
 * Returns content of random bytes that are generated while they are sent, so that a recording of any size needs no
 * memory.
 */
export function playNoise(sizeBytes: number): PlayedContent {
  const block = Buffer.alloc(65_521, Buffer.from(Array.from({ length: 251 }, (_, index) => index)));
  return {
    sizeBytes,
    etag: `"noise-${sizeBytes}"`,
    *read(offset) {
      for (let at = offset; at < sizeBytes;) {
        const from = at % block.byteLength;
        const part = block.subarray(from, Math.min(block.byteLength, from + sizeBytes - at));
        at += part.byteLength;
        yield part;
      }
    },
  };
}

const journey = (slug: string, config: unknown): unknown =>
  conversationJourney(
    slug,
    { slug: 'import', title: 'Import', pipeline_job: 'recording_import', config },
    { slug: 'review', title: 'Review' },
  );

const workspace = {
  classes: [
    {
      slug: 'event',
      object_kind: 'holon',
      parent: null,
      label: 'Event',
      plural_label: 'Events',
      conversation_event: true,
    },
  ],
  journeys: [
    journey('circle', { thumbnails: 0 }),
    journey('plain', { trim: false, thumbnails: 0 }),
    journey('moving', { advance_on_success: true }),
    journey('still', { trim: false, thumbnails: 2 }),
  ],
  people: [{ key: 'ada', name: 'Ada', contact: { email: 'ada@example.org' } }],
  holons: ['circle', 'plain', 'moving', 'still'].map((slug) => ({
    slug: `event-${slug}`,
    name: slug,
    class: 'event',
    parent: null,
    journeys: [slug],
  })),
};
