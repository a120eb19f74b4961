/** Imports of recordings and uploads to the video host: worked by one job at a time, remembered from one attempt to the next. */
import { columns, defineEntity, p } from '#libs/orm/entities';

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
