/** Records of stored objects. The record decides what is served, never client-writable JSON (D27). */
import { statement, type Queryable, type Tx } from '#libs/orm';
import type { AudioMetadata } from '../contract.ts';

/** The object in use as the audio of a conversation. */
export interface AudioBlob extends AudioMetadata {
  id: number;
  sha256: string;
}

export interface NewAudio {
  conversationId: number;
  objectKey: string;
  name: string;
  contentType: string;
  sizeBytes: number;
  sha256: string;
  accountId: number | null;
  personId: number | null;
}

/** First key of the advisory locks that order the writes of one conversation's blobs. */
const lockSpace = 0x6d65; // 'me'

const audioColumns = `id, object_key as path, name, content_type, size_bytes, source, iso_utc(created_at) as created_at, sha256`;

const findAudioStatement = statement(
  'media.find-audio',
  `select ${audioColumns} from media.blobs where conversation_id = $1 and kind = 'audio' and retired_at is null`,
);
const lockStatement = statement('media.lock-conversation', `select pg_advisory_xact_lock(${lockSpace}, $1)`);
const findDeletedStatement = statement('media.find-deleted', `select 1 from media.deleted_conversations where conversation_id = $1`);
const retireAudioStatement = statement(
  'media.retire-audio',
  `update media.blobs set retired_at = clock_timestamp()
   where conversation_id = $1 and kind = 'audio' and retired_at is null returning id`,
);
const insertAudioStatement = statement(
  'media.insert-audio',
  `insert into media.blobs (kind, conversation_id, object_key, name, content_type, size_bytes, sha256, source,
     created_by_account_id, created_by_person_id)
   values ('audio', $1, $2, $3, $4, $5, $6, 'upload', $7, $8) returning ${audioColumns}`,
);
const insertDeletedStatement = statement(
  'media.insert-deleted',
  `insert into media.deleted_conversations (conversation_id) values ($1) on conflict (conversation_id) do update set restorable = false`,
);
const hideStatement = statement(
  'media.hide-conversation',
  `insert into media.deleted_conversations (conversation_id, restorable) values ($1, true) on conflict do nothing`,
);
const showStatement = statement(
  'media.show-conversation',
  `delete from media.deleted_conversations where conversation_id = $1 and restorable`,
);
const retireConversationStatement = statement(
  'media.retire-conversation',
  `update media.blobs set retired_at = clock_timestamp() where conversation_id = $1 and retired_at is null returning id`,
);
const findRetiredStatement = statement('media.find-retired', `select object_key from media.blobs where id = $1 and retired_at is not null`);
const deleteRetiredStatement = statement('media.delete-retired', `delete from media.blobs where id = $1 and retired_at is not null`);

export async function findAudio(db: Queryable, conversationId: number): Promise<AudioBlob | undefined> {
  const [row] = await db.query<AudioBlob>(findAudioStatement, [conversationId]);
  return row;
}

/** Until the end of the transaction nobody else changes this conversation's blobs; their ids rise in the order of commits. */
export async function lockConversation(tx: Tx, conversationId: number): Promise<void> {
  await tx.query(lockStatement, [conversationId]);
}

/** The conversation is deleted, for now or for good: nothing of it is served, nothing is stored for it. */
export async function isConversationDeleted(db: Queryable, conversationId: number): Promise<boolean> {
  return (await db.query(findDeletedStatement, [conversationId])).length > 0;
}

/** Makes a stored object the audio of its conversation; under {@link lockConversation}. */
export async function replaceAudio(tx: Tx, audio: NewAudio): Promise<{ current: AudioBlob; retiredIds: number[] }> {
  const retired = await tx.query<{ id: number }>(retireAudioStatement, [audio.conversationId]);
  const [current] = await tx.query<AudioBlob>(insertAudioStatement, [
    audio.conversationId,
    audio.objectKey,
    audio.name,
    audio.contentType,
    audio.sizeBytes,
    audio.sha256,
    audio.accountId,
    audio.personId,
  ]);
  return { current: current as AudioBlob, retiredIds: retired.map((row) => row.id) };
}

/** Nothing of the conversation is served until {@link showConversation}; under {@link lockConversation}. */
export async function hideConversation(tx: Tx, conversationId: number): Promise<void> {
  await tx.query(hideStatement, [conversationId]);
}

/** Undoes {@link hideConversation}; what is retired stays so. */
export async function showConversation(tx: Tx, conversationId: number): Promise<void> {
  await tx.query(showStatement, [conversationId]);
}

/** Remembers that the conversation is gone and retires all its blobs; returns their ids. */
export async function retireConversation(tx: Tx, conversationId: number): Promise<number[]> {
  await lockConversation(tx, conversationId);
  await tx.query(insertDeletedStatement, [conversationId]);
  const retired = await tx.query<{ id: number }>(retireConversationStatement, [conversationId]);
  return retired.map((row) => row.id);
}

/** Key of an object that nothing refers to any more. */
export async function findRetiredKey(db: Queryable, blobId: number): Promise<string | undefined> {
  const [row] = await db.query<{ object_key: string }>(findRetiredStatement, [blobId]);
  return row?.object_key;
}

export async function deleteRetired(tx: Tx, blobId: number): Promise<void> {
  await tx.query(deleteRetiredStatement, [blobId]);
}
