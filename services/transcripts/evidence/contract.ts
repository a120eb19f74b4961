/** Contract of import evidence (rules/transcripts#import-evidence). */
import {
  byClients,
  byUsers,
  feedEvent,
  noData,
  notAnOperator,
  nullable,
  rpc,
  type Static,
  Type,
} from '#libs/infrastructure/contract';

export const conversationId = Type.Integer({ description: 'Id of the conversation.' });

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

/** Reasons why a row of the artifact is not imported, in the order in which they are tested (D25). */
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

/** Feed events about imports (rules/events#types; V1, V9). */
export const transcriptFeed = {
  imported: feedEvent({
    type: 'transcript.imported',
    subject: 'conversation',
    summary: 'A transcript was imported or replaced.',
    data: noData,
    example: {},
  }),
  refused: feedEvent({
    type: 'transcript.refused',
    subject: 'conversation',
    summary: 'A transcript was not imported.',
    data: Type.Object({
      status: Type.Enum(
        importStatuses.filter((status) => status !== 'imported' && status !== 'never_ran'),
        { description: 'Why, as in the import evidence.' },
      ),
    }),
    example: { status: 'transcript_window_missing' },
  }),
} as const;

export type ExclusionReason = (typeof exclusionReasons)[number];

const rowCount = Type.Integer({ minimum: 0 });

const importStatus = Type.Enum(importStatuses, {
  description: 'Result of the latest finished import; `never_ran` until the importer has recorded something.',
});

/** Reply of `GET /conversations/{id}/transcript/import-evidence`: counts and digests, never speech. */
export const importEvidence = Type.Object(
  {
    conversationId: Type.Integer({ description: 'Id of the conversation.' }),
    status: importStatus,
    failureReason: nullable(Type.String(), 'Null exactly when `status` is `imported`; otherwise equal to it.'),
    contractImport: Type.Boolean({
      description: 'True once the conversation has been cut under the window contract; never reverts.',
    }),
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
          conversationStartedAt: Type.String({
            format: 'date-time',
            description: 'Start of the window, explicit offset `+00:00`.',
          }),
          captureEndedAt: Type.String({
            format: 'date-time',
            description: 'End of the window, explicit offset `+00:00`.',
          }),
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

export const evidenceRpcs = {
  getEvidence: rpc({
    subject: 'transcripts.evidence.get',
    callers: byClients,
    summary: 'Read the import evidence of a conversation',
    request: Type.Object({ conversation_id: conversationId }),
    reply: importEvidence,
  }),
  listEvidence: rpc({
    subject: 'transcripts.evidence.list',
    callers: byUsers,
    summary: 'Lists evidence by conversation or artifact, with the start of the session, for operators',
    request: Type.Object({
      conversation_id: Type.Optional(conversationId),
      sha256: Type.Optional(
        Type.String({ pattern: '^[0-9a-f]{64}$', description: 'SHA-256 of the artifact, lower-case hex.' }),
      ),
    }),
    reply: Type.Object({
      items: Type.Array(
        Type.Object({
          evidence: importEvidence,
          session_started_at: nullable(
            Type.String({ format: 'date-time' }),
            "Start of the artifact's session; null when no artifact was read.",
          ),
        }),
        { description: 'By conversation, at most 1,000.' },
      ),
    }),
    errors: {
      ...notAnOperator,
      ambiguous_selection: { code: 'bad_request', when: 'Exactly one of `conversation_id` and `sha256` is required.' },
    },
  }),
} as const;
