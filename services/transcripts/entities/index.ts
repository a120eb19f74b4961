import { columns, defineEntity, p } from '#libs/infrastructure/orm/entities';
import type { ArtifactFormat } from '../artifact/index.ts';
import type { ImportStatus } from '../evidence/contract.ts';

/** One row per utterance, with its speaker. */

/** The primary key is the reading order of the rows. */
export const TranscriptRowSchema = defineEntity({
  name: 'TranscriptRow',
  tableName: 'transcript_rows',
  schema: 'transcripts',
  properties: {
    conversationId: p.integer().primary(),
    /** Microseconds from the window's start. */
    startUs: p.bigint().primary(),
    /** Order among rows with the same start time. */
    position: p.integer().primary(),
    endUs: p.bigint(),
    /** Id of the person, or the negative number of an unresolved speaker. */
    personId: p.integer(),
    text: p.text(),
  },
});

/**
 * A resolved speaker has a person, an unresolved one a number. The number does not change when the speaker is resolved
 * later.
 */
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
    /** The person was erased: later imports store neither words nor name. */
    erased: p.boolean().default(false),
  },
});

/** One evidence row per conversation. Check constraints enforce its sums and transitions. */
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

/** Digests of the rows that a bulk import requested, by conversation. */
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

/** Conversations that were permanently deleted. */
export const ForgottenConversationSchema = defineEntity({
  name: 'ForgottenConversation',
  tableName: 'forgotten_conversations',
  schema: 'transcripts',
  properties: { conversationId: p.integer().primary(), forgottenAt: columns.now() },
});

/** Access facts of a conversation, as the conversations service last reported them. */
export const SearchConversationSchema = defineEntity({
  name: 'SearchConversation',
  tableName: 'search_conversations',
  schema: 'transcripts',
  properties: {
    conversationId: p.integer().primary(),
    /** Start of the conversation; the year 1 if it has none. */
    startAt: columns.instant(),
    hasStart: p.boolean(),
    eventId: p.integer().nullable(),
    journeyId: p.integer().nullable(),
    participantIds: columns.ids(),
    version: columns.instant(),
  },
});

/** A row in the search index. */
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

/** All tables of the schema `transcripts`, except the tables of the job library. */
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
