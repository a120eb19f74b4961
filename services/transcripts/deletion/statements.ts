/** Statements on conversations that are gone for good. */
import { sql, statement, t } from '#libs/sql';

/** Removes everything of a conversation, and marks it so that an import under way stores nothing. For callers that hold its lock. */
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
