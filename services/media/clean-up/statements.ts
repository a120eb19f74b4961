/** Statements on hidden and deleted conversations, and on unreferenced objects. */
import { sql, statement, t } from '#libs/infrastructure/sql';

/** Hides all files of the conversation until {@link showConversation} is called. Call it under `lockConversation`. */
export const hideConversation = statement.none({
  name: 'media.hide-conversation',
  params: { conversationId: t.integer },
  sql: ({ conversationId }) =>
    sql`insert into media.deleted_conversations (conversation_id, restorable) values (${conversationId}, true) on conflict do nothing`,
});

/** Reverts {@link hideConversation}. Retired files remain retired. */
export const showConversation = statement.none({
  name: 'media.show-conversation',
  params: { conversationId: t.integer },
  sql: ({ conversationId }) =>
    sql`delete from media.deleted_conversations where conversation_id = ${conversationId} and restorable`,
});

/** Marks the conversation as permanently deleted. Call it under `lockConversation`. */
export const markPermanentlyDeleted = statement.none({
  name: 'media.insert-deleted',
  params: { conversationId: t.integer },
  sql: ({ conversationId }) => sql`insert into media.deleted_conversations (conversation_id) values (${conversationId})
    on conflict (conversation_id) do update set restorable = false`,
});

/** Retires all files of the conversation and returns their ids. */
export const retireConversationFiles = statement.many({
  name: 'media.retire-conversation',
  params: { conversationId: t.integer },
  row: { id: t.integer },
  sql: ({ conversationId }) => sql`update media.blobs set retired_at = clock_timestamp()
    where conversation_id = ${conversationId} and retired_at is null returning id`,
});

/** Returns the object key of a retired file. */
export const findRetired = statement.maybeOne({
  name: 'media.find-retired',
  params: { blobId: t.integer },
  row: { object_key: t.text },
  sql: ({ blobId }) => sql`select object_key from media.blobs where id = ${blobId} and retired_at is not null`,
});

export const deleteRetired = statement.none({
  name: 'media.delete-retired',
  params: { blobId: t.integer },
  sql: ({ blobId }) => sql`delete from media.blobs where id = ${blobId} and retired_at is not null`,
});

/**
 * Returns the conversations that have files, in order of id and starting after `after`, and whether they are hidden.
 */
export const listConversationsWithFiles = statement.many({
  name: 'media.list-owners',
  params: { after: t.integer, limit: t.integer },
  row: { id: t.integer, is_hidden: t.boolean },
  sql: ({
    after,
    limit,
  }) => sql`select o.id, exists (select from media.deleted_conversations d where d.conversation_id = o.id) as is_hidden
    from (select distinct conversation_id as id from media.blobs where retired_at is null and conversation_id > ${after}
      order by conversation_id limit ${limit}) as o order by o.id`,
});

/** Deletes the recording import of a conversation and returns the key of its stored object. */
export const deleteImport = statement.maybeOne({
  name: 'media.drop-import',
  params: { conversationId: t.integer },
  row: { object_key: t.text },
  sql: ({ conversationId }) =>
    sql`delete from media.recording_imports where conversation_id = ${conversationId} returning object_key`,
});

export const deleteVideohostUploads = statement.none({
  name: 'media.drop-videohost-uploads',
  params: { conversationId: t.integer },
  sql: ({ conversationId }) => sql`delete from media.videohost_uploads where conversation_id = ${conversationId}`,
});
