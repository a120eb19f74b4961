/**
 * Public face of the transcripts service: it imports the meeting provider's transcript under the conversation's window, and serves
 * the result as Markdown and as evidence (rules/transcripts#transcript-file, rules/transcripts#import-evidence; D7, D24 to D26a).
 */
import { byClients, byOperators, ownAccount, Type, defineService, job, jobAdminRpcs, rpc } from '#libs/contract';
import type { Static } from '#libs/contract';
import { personDataRpcs } from './person-data.ts';
import { jobsOf, pipelineJobs } from '#libs/pipeline';

const nullable = <Schema extends Parameters<typeof Type.Union>[0][number]>(schema: Schema, description: string) =>
  Type.Union([schema, Type.Null()], { description });

/** The seven values of `status` (rules/transcripts#import-statuses). */
export const importStatuses = [
  'imported',
  'install_refused_or_incomplete',
  'transcript_window_empty',
  'transcript_window_missing',
  'invalid_transcript_window',
  'legacy_unbounded',
  'never_ran',
] as const;

/** Why a row of the artifact was not imported, in the order in which the reasons are tested (D25). */
export const exclusionReasons = [
  'transcript_timestamp_malformed',
  'transcript_timestamp_ambiguous',
  'empty_sentence',
  'before_window_start',
  'after_window_end',
  'crosses_window_start',
  'crosses_window_end',
] as const;

export type ImportStatus = (typeof importStatuses)[number];
export type ExclusionReason = (typeof exclusionReasons)[number];

const rowCount = Type.Integer({ minimum: 0 });
const importStatus = Type.Enum(importStatuses, {
  description: 'Result of the latest finished import; `never_ran` until the importer has recorded something.',
});

/** Reply of `GET /conversations/{id}/transcript/import-evidence`: aggregates and digests only, never speech. */
export const importEvidence = Type.Object(
  {
    conversationId: Type.Integer({ description: 'Id of the conversation.' }),
    status: importStatus,
    failureReason: nullable(Type.String(), 'Null exactly when `status` is `imported`; otherwise equal to it.'),
    contractImport: Type.Boolean({ description: 'True once the conversation has been cut under the window contract; never reverts.' }),
    artifact: nullable(
      Type.Object(
        {
          sessionId: Type.String({ description: 'Provider session whose artifact was read.' }),
          sha256: Type.String({ description: 'SHA-256 of the exact bytes of the artifact, lower-case hex.' }),
          bytes: Type.Integer({ minimum: 0, description: 'Size of the artifact in bytes.' }),
        },
        { $id: 'ImportedArtifact' },
      ),
      'The provider artifact; null when none was fetched.',
    ),
    window: nullable(
      Type.Object(
        {
          conversationStartedAt: Type.String({ format: 'date-time', description: 'Start of the window, explicit offset `+00:00`.' }),
          captureEndedAt: Type.String({ format: 'date-time', description: 'End of the window, explicit offset `+00:00`.' }),
        },
        { $id: 'TranscriptWindow' },
      ),
      'The approved transcript window; null when there is no usable one.',
    ),
    counts: nullable(
      Type.Object(
        {
          raw: Type.Integer({ minimum: 0, description: 'Rows of the artifact; `accepted` plus every exclusion.' }),
          accepted: Type.Integer({ minimum: 0, description: 'Rows wholly inside the window.' }),
          installedSegments: nullable(rowCount, 'Stored transcript rows; null until the install returned.'),
          excludedByReason: Type.Object(
            {
              before_window_start: rowCount,
              after_window_end: rowCount,
              crosses_window_start: rowCount,
              crosses_window_end: rowCount,
              transcript_timestamp_ambiguous: rowCount,
              transcript_timestamp_malformed: rowCount,
              empty_sentence: rowCount,
            },
            { $id: 'ExcludedRows', description: 'Rows that were not imported, by reason; always all seven keys.' },
          ),
        },
        { $id: 'ImportCounts' },
      ),
      'Row counts of the filter; null when it has not run.',
    ),
  },
  { $id: 'ImportEvidence', description: 'Import evidence of one conversation.' },
);

export type ImportEvidence = Static<typeof importEvidence>;

const conversationId = Type.Integer({ description: 'Id of the conversation.' });

/** One row of a bulk import. */
const LegacyRow = Type.Object({
  start_ms: Type.Number({ minimum: 0, maximum: 1e12, description: "Milliseconds from the conversation's start." }),
  end_ms: Type.Number({ minimum: 0, maximum: 1e12, description: 'Not before the start.' }),
  person_id: nullable(Type.Integer({ minimum: 1 }), 'Who spoke; null = unresolved.'),
  speaker: nullable(Type.String(), 'Name to show of an unresolved speaker.'),
  text: Type.String(),
});
export type LegacyRow = Static<typeof LegacyRow>;

export const transcripts = defineService({
  service: 'transcripts',
  rpcs: {
    ...jobAdminRpcs('transcripts'),
    ...personDataRpcs,
    render: rpc({
      subject: 'transcripts.transcripts.render',
      callers: { ...byClients, agents: ownAccount },
      summary: 'Render the transcript of a conversation as Markdown',
      request: Type.Object({
        conversation_id: conversationId,
        person_id: Type.Optional(Type.Integer({ description: 'Only this speaker: a person id, or a negative unresolved-speaker id.' })),
      }),
      reply: Type.String({ description: 'UTF-8 Markdown, as raw bytes rather than a JSON string.' }),
      timeoutMs: 60_000,
    }),
    getEvidence: rpc({
      subject: 'transcripts.evidence.get',
      callers: byClients,
      summary: 'Read the import evidence of a conversation',
      request: Type.Object({ conversation_id: conversationId }),
      reply: importEvidence,
    }),
    listVerificationBases: rpc({
      subject: 'admin.transcripts.evidence.list-bases',
      callers: byOperators,
      summary: "What is needed to recompute evidence from a copy of an artifact: one conversation's, or of all that read the artifact",
      request: Type.Union([
        Type.Object({ conversation_id: conversationId }),
        Type.Object({ sha256: Type.String({ description: 'Digest of the artifact, lower-case hex.' }) }),
      ]),
      reply: Type.Object({
        items: Type.Array(
          Type.Object({
            evidence: importEvidence,
            session_started_at: nullable(
              Type.String({ format: 'date-time' }),
              "Start of the artifact's session; null when no artifact was read.",
            ),
          }),
        ),
      }),
    }),
    installLegacy: rpc({
      subject: 'admin.transcripts.rows.install-legacy',
      callers: byOperators,
      summary: 'Installs rows that were never cut under a window, where they differ from the stored ones (D7: legacy_unbounded)',
      request: Type.Object({
        items: Type.Array(Type.Object({ conversation_id: conversationId, rows: Type.Array(LegacyRow) }), { maxItems: 1_000 }),
        dry_run: Type.Boolean(),
      }),
      reply: Type.Object({
        items: Type.Array(
          Type.Object({
            conversation_id: conversationId,
            outcome: Type.Enum(['installed', 'unchanged', 'kept'], {
              description: '`kept`: rows were cut under a window before, and uncut ones never replace them.',
            }),
          }),
        ),
      }),
      timeoutMs: 60_000,
    }),
  },
  jobs: {
    ...jobsOf('transcripts', pipelineJobs),
    forgetConversation: job({
      startedBy: ['conversations'],
      type: 'transcripts.forget-conversation',
      summary: 'Removes everything of a conversation that is gone for good (D67).',
      payload: Type.Object({ conversation_id: Type.Integer({ minimum: 1 }) }),
      policy: { maxAttempts: Infinity, firstDelayMs: 1_000, maxDelayMs: 900_000, timeoutMs: 60_000, concurrency: 2 },
    }),
  },
  events: {},
  consumers: {
    meetingReported: { stream: 'EVENTS', durable: 'transcripts-meeting-reported', filter: 'events.conversations.meeting.reported' },
    conversationDeleted: {
      stream: 'EVENTS',
      durable: 'transcripts-conversation-deleted',
      filter: 'events.conversations.conversation.deleted',
    },
  },
});
