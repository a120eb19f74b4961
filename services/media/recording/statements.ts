/**
 * Statements on recording imports. A conversation has one import, which one job at a time claims and which stores the
 * progress of earlier attempts.
 */
import { type RowOf, sql, statement, t } from '#libs/infrastructure/sql';

const columns = {
  recording_id: t.text,
  object_key: t.text,
  etag: t.text.nullable,
  /** Null until the full recording is stored. */
  size_bytes: t.bigint.nullable,
  sha256: t.text.nullable,
  /** Digests of the inputs of the trimmed recording and the thumbnails. */
  trimmed_from: t.text.nullable,
  pictures_from: t.text.nullable,
};
export type RecordingImport = RowOf<typeof columns>;
const selected = sql`recording_id, object_key, etag, size_bytes, sha256, trimmed_from, pictures_from`;

/** Starts an import and replaces the previous one. Returns undefined while another job has the claim. */
export const startImport = statement.maybeOne({
  name: 'media.begin-import',
  params: { conversationId: t.integer, recordingId: t.text, objectKey: t.text, jobId: t.uuid, seconds: t.double },
  row: { object_key: t.text },
  sql: ({ conversationId, recordingId, objectKey, jobId, seconds }) => sql`insert into media.recording_imports as i
      (conversation_id, recording_id, object_key, worker_job_id, worked_until)
    values (${conversationId}, ${recordingId}, ${objectKey}, ${jobId}, clock_timestamp() + make_interval(secs => ${seconds}))
    on conflict (conversation_id) do update
      set recording_id = excluded.recording_id, object_key = excluded.object_key, etag = null, size_bytes = null, sha256 = null,
        trimmed_from = null, pictures_from = null,
        worker_job_id = excluded.worker_job_id, worked_until = excluded.worked_until, begun_at = clock_timestamp()
      where i.worked_until is null or i.worked_until < clock_timestamp() or i.worker_job_id = excluded.worker_job_id
    returning i.object_key`,
});

/** Claims or renews the import. Returns undefined while another job has the claim, or when there is no import. */
export const claimImportRow = statement.maybeOne({
  name: 'media.claim-import',
  params: { conversationId: t.integer, jobId: t.uuid, seconds: t.double },
  row: columns,
  sql: ({ conversationId, jobId, seconds }) => sql`update media.recording_imports
    set worker_job_id = ${jobId}, worked_until = clock_timestamp() + make_interval(secs => ${seconds})
    where conversation_id = ${conversationId} and (worked_until is null or worked_until < clock_timestamp() or worker_job_id = ${jobId})
    returning ${selected}`,
});

export const findImport = statement.maybeOne({
  name: 'media.find-import',
  params: { conversationId: t.integer },
  row: columns,
  sql: ({ conversationId }) =>
    sql`select ${selected} from media.recording_imports where conversation_id = ${conversationId}`,
});

export const releaseImport = statement.none({
  name: 'media.release-import',
  params: { conversationId: t.integer, jobId: t.uuid },
  sql: ({ conversationId, jobId }) => sql`update media.recording_imports set worker_job_id = null, worked_until = null
    where conversation_id = ${conversationId} and worker_job_id = ${jobId}`,
});

export const setImportEtag = statement.none({
  name: 'media.set-import-etag',
  params: { conversationId: t.integer, objectKey: t.text, etag: t.text.nullable },
  sql: ({ conversationId, objectKey, etag }) =>
    sql`update media.recording_imports set etag = ${etag} where conversation_id = ${conversationId} and object_key = ${objectKey}`,
});

export const setImportStored = statement.none({
  name: 'media.set-import-stored',
  params: { conversationId: t.integer, objectKey: t.text, sizeBytes: t.bigint, sha256: t.text },
  sql: ({ conversationId, objectKey, sizeBytes, sha256 }) => sql`update media.recording_imports
    set size_bytes = ${sizeBytes}, sha256 = ${sha256} where conversation_id = ${conversationId} and object_key = ${objectKey}`,
});

export const setImportSources = statement.none({
  name: 'media.set-import-made',
  params: { conversationId: t.integer, objectKey: t.text, trimmedFrom: t.text.nullable, picturesFrom: t.text.nullable },
  sql: ({ conversationId, objectKey, trimmedFrom, picturesFrom }) => sql`update media.recording_imports
    set trimmed_from = ${trimmedFrom}, pictures_from = ${picturesFrom} where conversation_id = ${conversationId} and object_key = ${objectKey}`,
});

export const countThumbnails = statement.one({
  name: 'media.count-thumbnails',
  params: { conversationId: t.integer },
  row: { count: t.integer },
  sql: ({ conversationId }) => sql`select count(*)::integer as count from media.blobs
    where conversation_id = ${conversationId} and kind = 'thumbnail' and retired_at is null`,
});

/** Stores when the recording started, as reported by the provider. */
export const setImportStart = statement.none({
  name: 'media.set-import-start',
  params: { conversationId: t.integer, objectKey: t.text, startedAt: t.instant.nullable },
  sql: ({ conversationId, objectKey, startedAt }) => sql`update media.recording_imports
    set recording_started_at = ${startedAt} where conversation_id = ${conversationId} and object_key = ${objectKey}`,
});
