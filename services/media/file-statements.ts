/** Records of stored files, as several features read and change them. The record decides what is served, never client-writable JSON (D27). */
import { statement, type Queryable, type Tx } from '#libs/orm';
import type { RecordingKind } from './schemas.ts';

/** Kind of a blob in the database. */
export type BlobKind = 'audio' | 'recording_full' | 'recording_front_trimmed' | 'thumbnail';

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
  /** Who uploaded it; null for what an import stored. */
  accountId: number | null;
  personId: number | null;
}

/** Audio is not among these kinds: it has no address that works without a token (rules/media#audio-download). */
const findPublicStatement = statement(
  'media.find-public',
  `select object_key, name, content_type, size_bytes, sha256 from media.blobs b
   where object_key = $1 and retired_at is null and kind in ('recording_full', 'recording_front_trimmed', 'thumbnail', 'logo')
     and not exists (select from media.deleted_conversations d where d.conversation_id = b.conversation_id)`,
);
const listRecordingsStatement = statement(
  'media.list-recordings',
  `select replace(kind, 'recording_', '') as kind, finalized, object_key, name, sha256 from media.blobs
   where conversation_id = $1 and retired_at is null and kind in ('recording_full', 'recording_front_trimmed')`,
);
const retireFileStatement = statement(
  'media.retire-file',
  `update media.blobs set retired_at = clock_timestamp() where conversation_id = $1 and kind = $2 and retired_at is null returning id`,
);
const insertFileStatement = statement(
  'media.insert-file',
  `insert into media.blobs (kind, conversation_id, object_key, name, content_type, size_bytes, sha256, source, finalized, created_by_account_id, created_by_person_id)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) returning id, iso_utc(created_at) as created_at`,
);

/** Nothing shows the conversation's files of this kind any more; under `lockConversation`. Their ids. */
export async function retireFiles(tx: Tx, conversationId: number, kind: BlobKind): Promise<number[]> {
  return (await tx.query<{ id: number }>(retireFileStatement, [conversationId, kind])).map(({ id }) => id);
}

/** A conversation may have several. */
export async function insertThumbnail(tx: Tx, file: NewFile): Promise<void> {
  await tx.query(insertFileStatement, valuesOf(file));
}

/** The current file under this key, unless it is audio or its conversation is deleted. */
export async function findPublicFile(db: Queryable, objectKey: string): Promise<PublicBlob | undefined> {
  const [row] = await db.query<PublicBlob>(findPublicStatement, [objectKey]);
  return row;
}

export async function listRecordings(db: Queryable, conversationId: number): Promise<StoredRecording[]> {
  return db.query<StoredRecording>(listRecordingsStatement, [conversationId]);
}

/** Makes a stored object the file of its kind; under `lockConversation`, so that ids rise in the order of commits. */
export async function replaceFile(tx: Tx, file: NewFile): Promise<{ id: number; createdAt: string; retiredIds: number[] }> {
  const retired = await tx.query<{ id: number }>(retireFileStatement, [file.conversationId, file.kind]);
  const [row] = await tx.query<{ id: number; created_at: string }>(insertFileStatement, valuesOf(file));
  const { id, created_at: createdAt } = row as { id: number; created_at: string };
  return { id, createdAt, retiredIds: retired.map((item) => item.id) };
}

function valuesOf(file: NewFile): unknown[] {
  const { kind, conversationId, objectKey, name, contentType, sizeBytes, sha256, source, finalized, accountId, personId } = file;
  return [kind, conversationId, objectKey, name, contentType, sizeBytes, sha256, source, finalized, accountId, personId];
}

/** First key of the advisory locks that order the writes of one conversation's blobs. */
const lockSpace = 0x6d65; // 'me'

const lockStatement = statement('media.lock-conversation', `select pg_advisory_xact_lock(${lockSpace}, $1)`);
const findDeletedStatement = statement('media.find-deleted', `select 1 from media.deleted_conversations where conversation_id = $1`);
/** Until the end of the transaction nobody else changes this conversation's blobs; their ids rise in the order of commits. */
export async function lockConversation(tx: Tx, conversationId: number): Promise<void> {
  await tx.query(lockStatement, [conversationId]);
}

/** The conversation is deleted, for now or for good: nothing of it is served, nothing is stored for it. */
export async function isConversationDeleted(db: Queryable, conversationId: number): Promise<boolean> {
  return (await db.query(findDeletedStatement, [conversationId])).length > 0;
}
