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

export const RecordingImportSchema = defineEntity({
  name: 'RecordingImport',
  tableName: 'recording_imports',
  schema: 'media',
  properties: {
    conversationId: p.integer().primary(),
    recordingId: p.text(),
    /** As the provider says; null = unknown. */
    recordingStartedAt: columns.instant().nullable(),
    objectKey: p.text(),
    /** Of the bytes under the key: their rest is asked for with it. */
    etag: p.text().nullable(),
    sizeBytes: columns.bigint().nullable(),
    /** Null until the whole recording is stored. */
    sha256: p.text().nullable(),
    /** What the trimmed recording and the thumbnails were made from. */
    trimmedFrom: p.text().nullable(),
    picturesFrom: p.text().nullable(),
    workerJobId: p.uuid().nullable(),
    workedUntil: columns.instant().nullable(),
    begunAt: columns.now(),
  },
});

/** One per conversation and recording. */
export const VideohostUploadSchema = defineEntity({
  name: 'VideohostUpload',
  tableName: 'videohost_uploads',
  schema: 'media',
  properties: {
    conversationId: p.integer().primary(),
    recordingSha256: p.text().primary(),
    /** Address under which the upload goes on; a secret. */
    session: p.text().nullable(),
    /** The last bytes may have been sent: the video may be there. */
    isEnding: p.boolean().default(false),
    video: p.json().nullable(),
    /** Job that cannot tell whether its upload was finished; its redrive uploads anew. */
    lostByJobId: p.text().nullable(),
    workerJobId: p.text().nullable(),
    workedUntil: columns.instant().nullable(),
    begunAt: columns.now(),
    /** Step that published it: its captions follow the configuration of that. */
    stepId: p.integer().nullable(),
    /** Of the thumbnail that the host has from us. */
    thumbnailSha256: p.text().nullable(),
    /** Null = with the window, or unknown. */
    videoStartedAt: columns.instant().nullable(),
    captionsId: p.text().nullable(),
    /** Of the captions that the host has. */
    captionsSha256: p.text().nullable(),
  },
});

/** Every table of the schema `media` but those of the job library. */
export const entities = [BlobSchema, DeletedConversationSchema, RecordingImportSchema, TicketSchema, UploadSchema, VideohostUploadSchema];
