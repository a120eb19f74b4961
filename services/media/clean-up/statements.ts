/** Conversations that are hidden or gone, and the objects that nothing refers to any more. */
import { type Queryable, statement, type Tx } from '#libs/orm';
import { lockConversation } from '../file-statements.ts';

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
