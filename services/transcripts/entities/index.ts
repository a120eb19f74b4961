import { columns, defineEntity, p } from '#libs/orm/entities';
import type { ArtifactFormat } from '../artifact/index.ts';
import type { ImportStatus } from '../evidence/contract.ts';

/** One row per utterance, with its speaker. */

/** Primary key in reading order. */
export const TranscriptRowSchema = defineEntity({
  name: 'TranscriptRow',
  tableName: 'transcript_rows',
  schema: 'transcripts',
  properties: {
    conversationId: p.integer().primary(),
    /** Microseconds from the window's start. */
    startUs: p.bigint().primary(),
    /** Order among rows with the same start. */
    position: p.integer().primary(),
    endUs: p.bigint(),
    /** Person, or negative unresolved speaker. */
    personId: p.integer(),
    text: p.text(),
  },
});

/** A resolved speaker has a person, an unresolved one a number, which does not change when it is resolved later. */
export const SpeakerSchema = defineEntity({
  name: 'Speaker',
  tableName: 'speakers',
  schema: 'transcripts',
  properties: {
    conversationId: p.integer().primary(),
    speakerKey: p.text().primary(),
    number: p.integer().nullable(),
    personId: p.integer().nullable(),
    displayName: p.text().nullable(),
    /** An erased person: later imports store neither words nor name. */
    erased: p.boolean().default(false),
  },
});

/** One row for each conversation; check constraints enforce its sums and transitions. */
export const ImportEvidenceSchema = defineEntity({
  name: 'ImportEvidence',
  tableName: 'import_evidence',
  schema: 'transcripts',
  properties: {
    conversationId: p.integer().primary(),
    status: p.text().$type<ImportStatus>(),
    contractImport: p.boolean(),
    sessionId: p.text().nullable(),
    sessionStartedAt: columns.instant().nullable(),
    artifactSha256: p.text().nullable(),
    artifactBytes: p.bigint().nullable(),
    artifactFormat: p.text().$type<ArtifactFormat>().nullable(),
    windowStart: columns.instant().nullable(),
    windowEnd: columns.instant().nullable(),
    raw: p.integer().nullable(),
    accepted: p.integer().nullable(),
    installedSegments: p.integer().nullable(),
    excluded: p.json<Record<string, number>>().nullable(),
    recordedAt: columns.now(),
  },
});

/** Digests of bulk-imported rows, as requested. */
export const LegacyTranscriptSchema = defineEntity({
  name: 'LegacyTranscript',
  tableName: 'legacy_transcripts',
  schema: 'transcripts',
  properties: { conversationId: p.integer().primary(), sha256: p.text(), installedAt: columns.now() },
});

/** People who were erased (`intoId` null) or merged; a running import may still refer to them. */
export const ErasedPersonSchema = defineEntity({
  name: 'GonePerson',
  tableName: 'gone_people',
  schema: 'transcripts',
  properties: { personId: p.integer().primary(), intoId: p.integer().nullable(), goneAt: columns.now() },
});

/** Conversations that are permanently deleted. */
export const ForgottenConversationSchema = defineEntity({
  name: 'ForgottenConversation',
  tableName: 'forgotten_conversations',
  schema: 'transcripts',
  properties: { conversationId: p.integer().primary(), forgottenAt: columns.now() },
});

/** Last state received from the conversations service. */
export const SearchConversationSchema = defineEntity({
  name: 'SearchConversation',
  tableName: 'search_conversations',
  schema: 'transcripts',
  properties: {
    conversationId: p.integer().primary(),
    /** The year 1 for a conversation without a start. */
    startAt: columns.instant(),
    hasStart: p.boolean(),
    eventId: p.integer().nullable(),
    journeyId: p.integer().nullable(),
    participantIds: columns.ids(),
    version: columns.instant(),
  },
});

/** A searchable row. */
export const SearchSegmentSchema = defineEntity({
  name: 'SearchSegment',
  tableName: 'search_segments',
  schema: 'transcripts',
  properties: {
    conversationId: p.integer().primary(),
    /** Index of the row in the whole transcript, from 0. */
    segmentIndex: p.integer().primary(),
    startUs: p.bigint(),
    position: p.integer(),
    personId: p.integer(),
    words: p.string().columnType('tsvector'),
  },
});

/** Every table of the schema `transcripts`, except those of the job library. */
export const entities = [
  ForgottenConversationSchema,
  ErasedPersonSchema,
  ImportEvidenceSchema,
  LegacyTranscriptSchema,
  SearchConversationSchema,
  SearchSegmentSchema,
  SpeakerSchema,
  TranscriptRowSchema,
];
