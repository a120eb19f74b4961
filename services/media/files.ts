/**
 * Records of stored files, which several features use. The records determine which files are served; JSON that clients
 * can write does not (D27).
 */
import { type ParamsOf, type RowOf, sql, statement, t } from '#libs/infrastructure/sql';
import type { Tx } from '#libs/infrastructure/orm';
import type { Jobs } from '#libs/infrastructure/jobs';
import type { CallContext } from '#libs/infrastructure/nats';
import type { RecordingKind } from './schemas.ts';
import { cleanUpJobs } from './clean-up/contract.ts';
import type { MediaConfig } from './config.ts';

/** Value of the column `kind` of a blob. */
export type BlobKind = 'audio' | 'recording_full' | 'recording_front_trimmed' | 'thumbnail';

/** First key of the advisory locks that order the writes of one conversation's blobs. */
const lockSpace = 0x6d65; // 'me'

/** Locks the files of the conversation until the end of the transaction, so that blob ids ascend in commit order. */
export const lockConversation = statement.none({
  name: 'media.lock-conversation',
  params: { conversationId: t.integer },
  sql: ({ conversationId }) => sql`select pg_advisory_xact_lock(${lockSpace}, ${conversationId})`,
});

/**
 * Returns a row when the conversation is deleted, temporarily or permanently. Files of a deleted conversation are
 * neither served nor stored.
 */
export const findDeleted = statement.maybeOne({
  name: 'media.find-deleted',
  params: { conversationId: t.integer },
  row: { conversation_id: t.integer },
  sql: ({ conversationId }) =>
    sql`select conversation_id from media.deleted_conversations where conversation_id = ${conversationId}`,
});

/** Columns of a file that is served without a token. */
export const publicColumns = {
  object_key: t.text,
  name: t.text,
  content_type: t.text,
  size_bytes: t.bigint,
  sha256: t.text,
};
export type PublicBlob = RowOf<typeof publicColumns>;

/**
 * Returns the current file with this key, unless its conversation is deleted. Audio is excluded, because it has no URL
 * without a token (rules/media#audio-download).
 */
export const findPublicFile = statement.maybeOne({
  name: 'media.find-public',
  params: { objectKey: t.text },
  row: publicColumns,
  sql: ({ objectKey }) => sql`select object_key, name, content_type, size_bytes, sha256 from media.blobs b
    where object_key = ${objectKey} and retired_at is null and kind in ('recording_full', 'recording_front_trimmed', 'thumbnail', 'logo')
      and not exists (select from media.deleted_conversations d where d.conversation_id = b.conversation_id)`,
});

export const findAudioFile = statement.maybeOne({
  name: 'media.find-audio',
  params: { conversationId: t.integer },
  row: {
    path: t.text,
    name: t.text,
    content_type: t.text,
    size_bytes: t.bigint,
    source: t.text,
    created_at: t.text,
    sha256: t.text,
  },
  sql: ({
    conversationId,
  }) => sql`select object_key as path, name, content_type, size_bytes, source, iso_utc(created_at) as created_at, sha256
    from media.blobs where conversation_id = ${conversationId} and kind = 'audio' and retired_at is null`,
});

export const listRecordings = statement.many({
  name: 'media.list-recordings',
  params: { conversationId: t.integer },
  row: { kind: t.text.as<RecordingKind>(), finalized: t.boolean, object_key: t.text, name: t.text, sha256: t.text },
  sql: ({
    conversationId,
  }) => sql`select replace(kind, 'recording_', '') as kind, finalized, object_key, name, sha256 from media.blobs
    where conversation_id = ${conversationId} and retired_at is null and kind in ('recording_full', 'recording_front_trimmed')`,
});

/**
 * Returns when an imported recording started; null when the provider did not report it. Returns no row for other
 * recordings.
 */
export const findRecordingStart = statement.maybeOne({
  name: 'media.find-recording-start',
  params: { conversationId: t.integer, objectKey: t.text },
  row: { started_at: t.text.nullable },
  sql: ({
    conversationId,
    objectKey,
  }) => sql`select iso_utc(recording_started_at) as started_at from media.recording_imports
    where conversation_id = ${conversationId} and object_key = ${objectKey}`,
});

/** Retires the conversation's files of this kind and returns their ids. Call it under `lockConversation`. */
export const retireFiles = statement.many({
  name: 'media.retire-file',
  params: { conversationId: t.integer, kind: t.text.as<BlobKind>() },
  row: { id: t.integer },
  sql: ({ conversationId, kind }) => sql`update media.blobs set retired_at = clock_timestamp()
    where conversation_id = ${conversationId} and kind = ${kind} and retired_at is null returning id`,
});

const newFile = {
  kind: t.text.as<BlobKind>(),
  conversationId: t.integer,
  objectKey: t.text,
  name: t.text,
  contentType: t.text,
  sizeBytes: t.bigint,
  sha256: t.text,
  source: t.text,
  finalized: t.boolean,
  /** Account of the uploader; null for imports. */
  accountId: t.integer.nullable,
  personId: t.integer.nullable,
};
export type FileRecord = ParamsOf<typeof newFile>;

/**
 * Adds a file to its conversation. Of other kinds than thumbnails a conversation has one file, which `replaceFile`
 * replaces. Call it under `lockConversation`.
 */
export const insertFile = statement.one({
  name: 'media.insert-file',
  params: newFile,
  row: { id: t.integer, created_at: t.text },
  sql: (file) => sql`insert into media.blobs
      (kind, conversation_id, object_key, name, content_type, size_bytes, sha256, source, finalized, created_by_account_id, created_by_person_id)
    values (${file.kind}, ${file.conversationId}, ${file.objectKey}, ${file.name}, ${file.contentType}, ${file.sizeBytes}, ${file.sha256},
      ${file.source}, ${file.finalized}, ${file.accountId}, ${file.personId})
    returning id, iso_utc(created_at) as created_at`,
});

export interface ReplacedFile {
  readonly id: number;
  /** ISO 8601. */
  readonly createdAt: string;
  /** Ids of the replaced files. */
  readonly retiredIds: readonly number[];
}

/** Makes a stored object the conversation's only file of its kind. Call it under `lockConversation`. */
export async function replaceFile(tx: Tx, file: FileRecord): Promise<ReplacedFile> {
  const retired = await retireFiles(tx, { conversationId: file.conversationId, kind: file.kind });
  const { id, created_at: createdAt } = await insertFile(tx, file);
  return { id, createdAt, retiredIds: retired.map((row) => row.id) };
}

/** Schedules the deletion of retired files after the grace period, so that running downloads can finish. */
export async function scheduleBlobDeletion(
  {
    jobs,
    config,
  }: { readonly jobs: Pick<Jobs, 'enqueue'>; readonly config: Pick<MediaConfig, 'MEDIA_REPLACED_GRACE_SECONDS'> },
  tx: Tx,
  blobIds: readonly number[],
  origin: Partial<Pick<CallContext, 'requestId' | 'traceparent'>> = {},
): Promise<void> {
  const delayMs = config.MEDIA_REPLACED_GRACE_SECONDS * 1000;
  for (const blobId of blobIds) {
    await jobs.enqueue(tx, cleanUpJobs.deleteBlob, { blob_id: blobId }, { ...origin, key: `blob-${blobId}`, delayMs });
  }
}
