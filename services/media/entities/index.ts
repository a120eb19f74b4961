/** Tables of the schema `media`. */
import { columns, defineEntity, p } from '#libs/orm/entities';

/** A stored file of a conversation or holon. */
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
    /** Only for trimmed recordings: false while the full recording does not replace it (D27). */
    finalized: p.boolean().default(false),
    createdAt: columns.now(),
    createdByAccountId: p.integer().nullable(),
    createdByPersonId: p.integer().nullable(),
    /** When the file was retired; null while it is in use. */
    retiredAt: columns.instant().nullable(),
  },
});

/** Objects being written. The sweep removes those whose lease expired. */
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

/** Hidden and permanently deleted conversations; an upload that finishes later stores nothing. */
export const DeletedConversationSchema = defineEntity({
  name: 'DeletedConversation',
  tableName: 'deleted_conversations',
  schema: 'media',
  properties: {
    conversationId: p.integer().primary(),
    deletedAt: columns.now(),
    /** True: hidden, files and records are kept. False: permanently deleted. */
    restorable: p.boolean().default(false),
  },
});

/** Tickets for one HTTP request each; deleted when used. */
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
    /** As reported by the provider; null = unknown. */
    recordingStartedAt: columns.instant().nullable(),
    objectKey: p.text(),
    /** Entity tag of the bytes under the key; sent when the download is resumed. */
    etag: p.text().nullable(),
    sizeBytes: columns.bigint().nullable(),
    /** Null until the whole recording is stored. */
    sha256: p.text().nullable(),
    /** Digests of the inputs of the trimmed recording and the thumbnails. */
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
    /** Address for resuming the upload; a secret. */
    session: p.text().nullable(),
    /** The last bytes may have been sent, so that the video may exist. */
    isEnding: p.boolean().default(false),
    video: p.json().nullable(),
    /** Job that could not determine the outcome of its upload; a redrive of it uploads again. */
    lostByJobId: p.text().nullable(),
    workerJobId: p.text().nullable(),
    workedUntil: columns.instant().nullable(),
    begunAt: columns.now(),
    /** Step that published the video; captions use its configuration. */
    stepId: p.integer().nullable(),
    /** Digest of the thumbnail that was sent to the host. */
    thumbnailSha256: p.text().nullable(),
    /** Null when the video starts with the window, or when its start is unknown. */
    videoStartedAt: columns.instant().nullable(),
    captionsId: p.text().nullable(),
    /** Digest of the captions that were sent to the host. */
    captionsSha256: p.text().nullable(),
  },
});

/** Every table of the schema `media`, without those of the job library. */
export const entities = [
  BlobSchema,
  DeletedConversationSchema,
  RecordingImportSchema,
  TicketSchema,
  UploadSchema,
  VideohostUploadSchema,
];
