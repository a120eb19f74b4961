/** Records of recordings and imported files, and of what is served without a token (D27). */
import { statement, type Queryable, type Tx } from '#libs/orm';
import type { RecordingKind, StoredFile } from '../contract.ts';

/** Kind of a blob in the database. */
export type BlobKind = 'audio' | 'recording_full' | 'recording_front_trimmed' | 'thumbnail';

export function blobKindOf(kind: StoredFile['kind']): BlobKind {
  return kind === 'audio' ? 'audio' : kind === 'full' ? 'recording_full' : 'recording_front_trimmed';
}

/** A file that is served without a token. */
export interface PublicBlob {
  object_key: string;
  name: string;
  content_type: string;
  size_bytes: number;
  sha256: string;
}

export interface StoredRecording {
  kind: RecordingKind;
  finalized: boolean;
  object_key: string;
  name: string;
  sha256: string;
}

export interface NewFile {
  kind: BlobKind;
  conversationId: number;
  objectKey: string;
  name: string;
  contentType: string;
  sizeBytes: number;
  sha256: string;
  source: string;
  finalized: boolean;
}

/** Audio is not among these kinds: it has no address that works without a token (rules/media#audio-download). */
const findPublicStatement = statement(
  'media.find-public',
  `select object_key, name, content_type, size_bytes, sha256 from media.blobs b
   where object_key = $1 and retired_at is null and kind in ('recording_full', 'recording_front_trimmed', 'thumbnail', 'logo')
     and not exists (select from media.deleted_conversations d where d.conversation_id = b.conversation_id)`,
);
const firstThumbnailStatement = statement(
  'media.first-thumbnail',
  `select object_key, name, content_type, size_bytes, sha256 from media.blobs
   where conversation_id = $1 and kind = 'thumbnail' and retired_at is null order by id limit 1`,
);
const listRecordingsStatement = statement(
  'media.list-recordings',
  `select replace(kind, 'recording_', '') as kind, finalized, object_key, name, sha256 from media.blobs
   where conversation_id = $1 and retired_at is null and kind in ('recording_full', 'recording_front_trimmed')`,
);
const listFilesStatement = statement(
  'media.list-files',
  `select conversation_id, replace(kind, 'recording_', '') as kind, name, size_bytes, sha256, finalized from media.blobs
   where conversation_id = any($1::integer[]) and retired_at is null and kind in ('audio', 'recording_full', 'recording_front_trimmed')`,
);
const setFinalizedStatement = statement(
  'media.set-finalized',
  `update media.blobs b set finalized = i.finalized
   from jsonb_to_recordset($1::jsonb) as i(conversation_id integer, finalized boolean)
   where b.conversation_id = i.conversation_id and b.kind = 'recording_front_trimmed' and b.retired_at is null
     and b.finalized <> i.finalized
   returning b.conversation_id as id`,
);
const retireFileStatement = statement(
  'media.retire-file',
  `update media.blobs set retired_at = clock_timestamp() where conversation_id = $1 and kind = $2 and retired_at is null returning id`,
);
const insertFileStatement = statement(
  'media.insert-file',
  `insert into media.blobs (kind, conversation_id, object_key, name, content_type, size_bytes, sha256, source, finalized)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9) returning id, iso_utc(created_at) as created_at`,
);

/** Nothing shows the conversation's files of this kind any more; under `lockConversation`. Their ids. */
export async function retireFiles(tx: Tx, conversationId: number, kind: BlobKind): Promise<number[]> {
  return (await tx.query<{ id: number }>(retireFileStatement, [conversationId, kind])).map(({ id }) => id);
}

/** A conversation may have several. */
export async function insertThumbnail(tx: Tx, file: NewFile): Promise<void> {
  const { kind, conversationId, objectKey, name, contentType, sizeBytes, sha256, source, finalized } = file;
  await tx.query(insertFileStatement, [kind, conversationId, objectKey, name, contentType, sizeBytes, sha256, source, finalized]);
}

/** The current file under this key, unless it is audio or its conversation is deleted. */
export async function findPublicFile(db: Queryable, objectKey: string): Promise<PublicBlob | undefined> {
  const [row] = await db.query<PublicBlob>(findPublicStatement, [objectKey]);
  return row;
}

export async function findFirstThumbnail(db: Queryable, conversationId: number): Promise<PublicBlob | undefined> {
  const [row] = await db.query<PublicBlob>(firstThumbnailStatement, [conversationId]);
  return row;
}

export async function listRecordings(db: Queryable, conversationId: number): Promise<StoredRecording[]> {
  return db.query<StoredRecording>(listRecordingsStatement, [conversationId]);
}

export async function listFiles(db: Queryable, conversationIds: readonly number[]): Promise<StoredFile[]> {
  return db.query<StoredFile>(listFilesStatement, [conversationIds]);
}

/** Conversations whose trimmed recording changed. */
export async function setFinalized(db: Queryable, items: readonly { conversation_id: number; finalized: boolean }[]): Promise<number[]> {
  const rows = await db.query<{ id: number }>(setFinalizedStatement, [JSON.stringify(items)]);
  return rows.map(({ id }) => id);
}

/** Makes a stored object the file of its kind; under `lockConversation`, so that ids rise in the order of commits. */
export async function replaceFile(tx: Tx, file: NewFile): Promise<{ id: number; createdAt: string; retiredIds: number[] }> {
  const retired = await tx.query<{ id: number }>(retireFileStatement, [file.conversationId, file.kind]);
  const [row] = await tx.query<{ id: number; created_at: string }>(insertFileStatement, [
    file.kind,
    file.conversationId,
    file.objectKey,
    file.name,
    file.contentType,
    file.sizeBytes,
    file.sha256,
    file.source,
    file.finalized,
  ]);
  const { id, created_at: createdAt } = row as { id: number; created_at: string };
  return { id, createdAt, retiredIds: retired.map((item) => item.id) };
}
