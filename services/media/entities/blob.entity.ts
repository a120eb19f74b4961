/** What is stored, and what is under way to the store. */
import { columns, defineEntity, p } from '#libs/orm/entities';

/** An object of the store, of a conversation or of a holon. */
export const BlobSchema = defineEntity({
  name: 'Blob',
  tableName: 'blobs',
  schema: 'media',
  properties: {
    id: p.integer().primary().autoincrement(),
    kind: p.text(),
    conversationId: p.integer().nullable(),
    holonId: p.integer().nullable(),
    objectKey: p.text(),
    name: p.text(),
    contentType: p.text(),
    sizeBytes: columns.bigint(),
    sha256: p.text(),
    source: p.text(),
    /** Of a front-trimmed recording: it gives way to the full one (D27). */
    finalized: p.boolean().default(false),
    createdAt: columns.now(),
    createdByAccountId: p.integer().nullable(),
    createdByPersonId: p.integer().nullable(),
    /** Since when nothing refers to the object; null = in use. */
    retiredAt: columns.instant().nullable(),
  },
});

/** Objects being written; one without a sign of life is removed by the sweep. */
export const UploadSchema = defineEntity({
  name: 'Upload',
  tableName: 'uploads',
  schema: 'media',
  properties: {
    objectKey: p.text().primary(),
    startedAt: columns.now(),
    aliveUntil: columns.instant(),
    swept: p.boolean().default(false),
  },
});

/** So that an upload which finishes after the deletion stores nothing. */
export const DeletedConversationSchema = defineEntity({
  name: 'DeletedConversation',
  tableName: 'deleted_conversations',
  schema: 'media',
  properties: {
    conversationId: p.integer().primary(),
    deletedAt: columns.now(),
    /** Hidden, files and records are kept; false = gone for good. */
    restorable: p.boolean().default(false),
  },
});

/** For one HTTP request each: method and path; gone once it is used. */
export const TicketSchema = defineEntity({
  name: 'Ticket',
  tableName: 'tickets',
  schema: 'media',
  properties: {
    ticketSha256: p.blob().primary(),
    request: p.text(),
    expiresAt: columns.instant(),
  },
});
