/** Tables of the schema `media`. */
import { columns, defineEntity, p } from '#libs/infrastructure/orm/entities';

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
    /** For trimmed recordings: while false, the trimmed recording is displayed instead of the full one (D27). */
    finalized: p.boolean().default(false),
    createdAt: columns.now(),
    createdByAccountId: p.integer().nullable(),
    createdByPersonId: p.integer().nullable(),
    /** When the file was retired; null while it is in use. */
    retiredAt: columns.instant().nullable(),
  },
});

/** Objects that are being written. The sweep removes objects whose lease expired. */
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

/** Hidden and permanently deleted conversations. An upload that finishes after the deletion stores nothing. */
export const DeletedConversationSchema = defineEntity({
  name: 'DeletedConversation',
  tableName: 'deleted_conversations',
  schema: 'media',
  properties: {
    conversationId: p.integer().primary(),
    deletedAt: columns.now(),
    /**
     * True when the conversation is hidden but its files and records still exist; false when it is permanently deleted.
     */
    restorable: p.boolean().default(false),
  },
});

/** Tickets, each for one HTTP request. A ticket is deleted when it is used. */
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
    /** Start of the recording as reported by the provider; null when unknown. */
    recordingStartedAt: columns.instant().nullable(),
    objectKey: p.text(),
    /** Entity tag of the stored bytes, which is sent when the download is resumed. */
    etag: p.text().nullable(),
    sizeBytes: columns.bigint().nullable(),
    /** Null until the whole recording is stored. */
    sha256: p.text().nullable(),
    /**
     * Digest of the input from which the trimmed recording was made; `picturesFrom` is the digest for the thumbnails.
     */
    trimmedFrom: p.text().nullable(),
    picturesFrom: p.text().nullable(),
    workerJobId: p.uuid().nullable(),
    workedUntil: columns.instant().nullable(),
    begunAt: columns.now(),
  },
});

/** Uploads to the video host, one per conversation and recording. */
export const VideohostUploadSchema = defineEntity({
  name: 'VideohostUpload',
  tableName: 'videohost_uploads',
  schema: 'media',
  properties: {
    conversationId: p.integer().primary(),
    recordingSha256: p.text().primary(),
    /** URL for resuming the upload. It is a secret. */
    session: p.text().nullable(),
    /** True when the last bytes may have been sent, so that the video may exist. */
    isEnding: p.boolean().default(false),
    video: p.json().nullable(),
    /** Job that could not determine the outcome of its upload. A redrive of this job uploads the video again. */
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

/** All tables of the schema `media`, except the tables of the job library. */
export const entities = [
  BlobSchema,
  DeletedConversationSchema,
  RecordingImportSchema,
  TicketSchema,
  UploadSchema,
  VideohostUploadSchema,
];
