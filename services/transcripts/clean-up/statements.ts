/** Statements on permanently deleted conversations. */
import { sql, statement, t } from '#libs/infrastructure/sql';

/**
 * Deletes all stored data of a conversation, and marks it so that a running import stores nothing. Call it under the
 * locks of the conversation.
 */
export const forgetConversation = statement.none({
  name: 'evidence.forget',
  params: { id: t.integer },
  sql: ({ id }) => sql`
    with mark as (insert into forgotten_conversations (conversation_id) values (${id}) on conflict do nothing),
    gone_rows as (delete from transcript_rows where conversation_id = ${id}),
    gone_speakers as (delete from speakers where conversation_id = ${id}),
    gone_words as (delete from search_segments where conversation_id = ${id}),
    gone_facts as (delete from search_conversations where conversation_id = ${id}),
    gone_digest as (delete from legacy_transcripts where conversation_id = ${id})
    delete from import_evidence where conversation_id = ${id}`,
});

/** Returns the conversations with stored data after the id `after`, by ascending id. */
export const listStoredConversations = statement.many({
  name: 'catch-up.known',
  params: { after: t.integer, limit: t.integer },
  row: { id: t.integer },
  sql: ({ after, limit }) => sql`
    select known.id from (
      (select conversation_id as id from search_conversations where conversation_id > ${after} order by conversation_id limit ${limit})
      union
      (select conversation_id from import_evidence where conversation_id > ${after} order by conversation_id limit ${limit})
      union
      (select conversation_id from legacy_transcripts where conversation_id > ${after} order by conversation_id limit ${limit})
    ) as known order by known.id limit ${limit}`,
});
