/** Tables of conversations and their dependent rows. */
import { columns, defineEntity, p } from '#libs/infrastructure/orm/entities';

/**
 * Each conversation is one row, so that a read is one look-up and a write one lock (docs/adr/conversation-storage.md).
 * Ids refer to the directory. The view `conversations` excludes deleted rows (D67).
 */
export const ConversationSchema = defineEntity({
  name: 'Conversation',
  tableName: 'all_conversations',
  schema: 'conversations',
  properties: {
    id: p.integer().primary().autoincrement(),
    journeyId: p.integer().nullable(),
    stepId: p.integer().nullable(),
    eventId: p.integer().nullable(),
    startAt: columns.instant().nullable(),
    finishAt: columns.instant().nullable(),
    participantIds: columns.ids(),
    connectedIds: columns.ids(),
    infos: columns.jsonObject().defaultRaw(`'{}'`),
    config: columns.jsonObject().defaultRaw(`'{}'`),
    /** Room state, which the API returns as `config.enter-coherence`. */
    room: columns.jsonObject().nullable(),
    /** Derived from the question changes. */
    questionState: columns.jsonObject().nullable(),
    audioBlobId: p.integer().nullable(),
    createdAt: columns.now(),
    updatedAt: columns.now(),
    deletedAt: columns.instant().nullable(),
    /** Reason and actor of the deletion, and released references: `{reason, by, booking_id, import_key}`. */
    deletion: columns.jsonObject().nullable(),
  },
});

/** A note. Notes with the same key are added once. */
export const NoteSchema = defineEntity({
  name: 'Note',
  tableName: 'notes',
  schema: 'conversations',
  properties: {
    id: p.integer().primary().autoincrement(),
    conversation: () => p.manyToOne(ConversationSchema).ref(),
    key: p.text().nullable(),
    noteType: p.text(),
    body: p.text(),
    authorPersonId: p.integer().nullable(),
    createdAt: columns.now(),
  },
});

export const IdempotencyKeySchema = defineEntity({
  name: 'IdempotencyKey',
  tableName: 'idempotency_keys',
  schema: 'conversations',
  properties: {
    conversation: () => p.manyToOne(ConversationSchema).primary().ref(),
    operation: p.text().primary(),
    key: p.text().primary(),
    expiresAt: columns.instant(),
  },
});

/** A displayed question. Ids are in the order in which the changes were received. */
export const QuestionChangeSchema = defineEntity({
  name: 'QuestionChange',
  tableName: 'question_changes',
  schema: 'conversations',
  properties: {
    id: p.integer().primary().autoincrement(),
    conversation: () => p.manyToOne(ConversationSchema).ref(),
    questionId: p.integer(),
    occurredAt: columns.instant(),
    key: p.text(),
    receivedAt: columns.now(),
  },
});

/** The entry of a conversation into a step with a pipeline job. */
export const PipelineEntrySchema = defineEntity({
  name: 'PipelineEntry',
  tableName: 'pipeline_entries',
  schema: 'conversations',
  properties: {
    id: p.integer().primary().autoincrement(),
    conversation: () => p.manyToOne(ConversationSchema).ref(),
    stepId: p.integer(),
    pipelineJob: p.text(),
    cause: p.text(),
    jobId: p.text().nullable(),
    enteredAt: columns.now(),
  },
});

/** A moment of a conversation that no other row stores (W9). */
export const TimelineEntrySchema = defineEntity({
  name: 'TimelineEntry',
  tableName: 'timeline_entries',
  schema: 'conversations',
  properties: {
    id: p.bigint().primary().autoincrement(),
    conversation: () => p.manyToOne(ConversationSchema).ref(),
    kind: p.text(),
    stepId: p.integer().nullable(),
    at: columns.now(),
  },
});

/** Maps the keys of workspace files to conversations. */
export const ImportKeySchema = defineEntity({
  name: 'ImportKey',
  tableName: 'import_keys',
  schema: 'conversations',
  properties: {
    key: p.text().primary(),
    conversation: () => p.manyToOne(ConversationSchema).ref(),
  },
});
