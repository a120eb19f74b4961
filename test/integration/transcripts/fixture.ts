/**
 * Fixture for import tests: the real directory, conversations and transcripts services, and a simulated meeting
 * provider.
 */
import { createHash } from 'node:crypto';
import type { RequestOf } from '#libs/infrastructure/contract';
import { connectBus, type Bus } from '#libs/infrastructure/nats';
import {
  contextFor,
  conversationJourney,
  createTestEnvironment,
  fastJobTuning,
  startRealtimeKit,
  startService,
  waitFor,
  watchJobs,
} from '#libs/product/testing';
import type { JobWatch, PlayedArtifact, RealtimeKitServer, TestEnvironment } from '#libs/product/testing';
import { conversations } from '#services/conversations';
import { directory } from '#services/directory';
import { transcripts, type ImportEvidence, type ImportStatus } from '#services/transcripts';

export const sessionStart = '2030-01-15T10:00:00.000Z';
export const sessionEnd = '2030-01-15T10:10:00.000Z';
/** The transcript window lasts from minute 1 to minute 5 of the session. */
export const windowStart = '2030-01-15T10:01:00Z';
export const windowEnd = '2030-01-15T10:05:00Z';

export interface TranscriptFixture {
  readonly env: TestEnvironment;
  readonly bus: Bus;
  readonly provider: RealtimeKitServer;
  /** Settings of the transcripts service. */
  readonly settings: Readonly<Record<string, string>>;
  /** The conversations service, which tests can stop. */
  readonly conversations: { stop(): Promise<void> };
  readonly personId: number;
  /** Creates a conversation in its import step, with a meeting and a session that covers the window. */
  meet(options?: MeetOptions): Promise<Meeting>;
  evidence(id: number): Promise<ImportEvidence>;
  markdown(id: number, personId?: number): Promise<string>;
  transcript(request: RequestOf<typeof transcripts.rpcs.render>): Promise<string>;
  becomes(id: number, status: ImportStatus, timeoutMs?: number): Promise<ImportEvidence>;
  /** Watches the import jobs. */
  readonly jobs: JobWatch;
  stop(): Promise<void>;
}

export interface MeetOptions {
  readonly artifact?: PlayedArtifact;
  readonly window?: { readonly conversationStartedAt?: string; readonly captureEndedAt?: string };
  readonly participants?: readonly { readonly customParticipantId: string; readonly personId?: number }[];
  /** False: the conversation has no stored meeting. */
  readonly hasMeeting?: boolean;
  /** False: the provider does not have the session. */
  readonly hasSession?: boolean;
  /** False: the conversation is at a step before its import step. */
  readonly isRecorded?: boolean;
  readonly journey?: string;
}

export interface Meeting {
  readonly id: number;
  readonly meetingId: string;
  readonly sessionId: string;
  recorded(): Promise<void>;
  writeRoom(write: Record<string, unknown>): Promise<void>;
}

export const fullWindow = { conversationStartedAt: windowStart, captureEndedAt: windowEnd };

/** Starts the fixture. If `runsImporter` is false, the test starts the transcripts service itself. */
export async function startTranscriptFixture(
  fileUrl: string,
  overrides: Record<string, string> = {},
  { runsImporter = true }: { runsImporter?: boolean } = {},
): Promise<TranscriptFixture> {
  const env = await createTestEnvironment(fileUrl);
  const provider = await startRealtimeKit();
  const settings = {
    ...env.settings,
    REALTIMEKIT_BASE_URL: provider.baseUrl,
    REALTIMEKIT_API_TOKEN: provider.apiToken,
    ...overrides,
  };
  await startService('directory', env);
  const conversationsService = await startService('conversations', env);
  if (runsImporter) await startService('transcripts', env, settings, { tuning: fastJobTuning });
  const bus = await connectBus({
    url: env.settings['NATS_URL'] ?? '',
    name: 'admin',
    prefix: env.settings['NATS_SUBJECT_PREFIX'],
    logger: env.logger,
    actors: env.actors,
  });
  const applied = await bus.call(
    directory.rpcs.applyWorkspace,
    { document: workspace, dry_run: false },
    contextFor(directory.rpcs.applyWorkspace),
  );
  const personId = applied.ids['people']?.['ada'] ?? 0;
  let count = 0;

  const fixture: TranscriptFixture = {
    env,
    bus,
    provider,
    settings,
    conversations: conversationsService,
    personId,
    meet: async (meeting = {}) => {
      count += 1;
      const time = new Date(Date.UTC(2029, 0, 1) - count * 3_600_000).toISOString();
      const [found] = await bus.call(
        conversations.rpcs.findActive,
        { person_id: personId, journey: meeting.journey ?? 'circle', time },
        contextFor(conversations.rpcs.findActive),
      );
      const id = found?.id ?? 0;
      const [meetingId, sessionId] = [`meeting-${count}`, `session-${count}`];
      if (meeting.hasSession !== false)
        provider.addSession({ id: sessionId, meetingId, startedAt: sessionStart, endedAt: sessionEnd });
      if (meeting.artifact !== undefined) provider.setArtifact(sessionId, meeting.artifact);
      const writeRoom = async (write: Record<string, unknown>): Promise<void> => {
        await bus.call(
          conversations.rpcs.writeRoom,
          { conversation_id: id, write },
          contextFor(conversations.rpcs.writeRoom),
        );
      };
      const recorded = async (): Promise<void> => {
        await bus.call(
          conversations.rpcs.recorded,
          { conversation_id: id, idempotency_key: null, write: {} },
          contextFor(conversations.rpcs.recorded),
        );
      };
      const participants = meeting.participants ?? [{ customParticipantId: 'cpi-ada', personId }];
      await writeRoom({
        ...(meeting.hasMeeting === false ? {} : { meetingId }),
        participants,
        ...(meeting.window ?? fullWindow),
      });
      if (meeting.isRecorded !== false) await recorded();
      return { id, meetingId, sessionId, recorded, writeRoom };
    },
    evidence: (id) =>
      bus.call(transcripts.rpcs.getEvidence, { conversation_id: id }, contextFor(transcripts.rpcs.getEvidence)),
    markdown: (id, speaker) =>
      fixture.transcript({ conversation_id: id, ...(speaker === undefined ? {} : { person_id: speaker }) }),
    transcript: async (request) => {
      const reply = await bus.callRaw(transcripts.rpcs.render, request, contextFor(transcripts.rpcs.render));
      if (reply.kind === 'bytes') return Buffer.from(reply.bytes).toString('utf8');
      const parts: Uint8Array[] = [];
      for await (const chunk of reply.chunks) parts.push(Buffer.from(chunk));
      return Buffer.concat(parts).toString('utf8');
    },
    becomes: async (id, status, timeoutMs) =>
      await waitFor(
        async () => {
          const evidence = await fixture.evidence(id);
          if (evidence.status !== status)
            throw new Error(`the status is ${evidence.status}: ${JSON.stringify(await fixture.jobs.list(id))}`);
          return evidence;
        },
        { ...(timeoutMs === undefined ? {} : { timeoutMs }), what: status },
      ),
    jobs: watchJobs(env, 'transcripts.transcript-import'),
    stop: async () => {
      await bus.close();
      await env.stop();
      await provider.stop();
    },
  };
  return fixture;
}

const journey = (slug: string, config: unknown): unknown =>
  conversationJourney(
    slug,
    { slug: 'import', title: 'Import', pipeline_job: 'transcript_import', config },
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
  journeys: [journey('circle', {}), journey('moving', { advance_on_success: true })],
  people: [{ key: 'ada', name: 'Ada', contact: { email: 'ada@example.org' } }],
  holons: [
    { slug: 'spring', name: 'Spring', class: 'event', parent: null, journeys: ['circle'] },
    { slug: 'autumn', name: 'Autumn', class: 'event', parent: null, journeys: ['moving'] },
  ],
};

/** Returns a transcript row in the format of the provider; times are in milliseconds from the start of the session. */
export function row(
  startTime: unknown,
  endTime: unknown,
  sentence: unknown,
  cpi = 'cpi-ada',
  displayName: string | undefined = 'Ada in the room',
): unknown {
  return {
    startTime,
    endTime,
    sentence,
    peerData: { id: `peer-${cpi}`, userId: `user-${cpi}`, displayName, cpi, joinedAt: sessionStart, leftAt: '' },
  };
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
