/** Statements on conversations that are gone for good. */
import { type Queryable, statement } from '#libs/orm';
import { lockConversation } from '../evidence/index.ts';

const forget = statement(
  'evidence.forget',
  `with mark as (insert into forgotten_conversations (conversation_id) values ($1) on conflict do nothing),
   gone_rows as (delete from transcript_rows where conversation_id = $1),
   gone_speakers as (delete from speakers where conversation_id = $1),
   gone_digest as (delete from legacy_transcripts where conversation_id = $1)
   delete from import_evidence where conversation_id = $1`,
);

/** Removes everything of a deleted conversation, and marks it so that an import under way stores nothing. */
export async function forgetConversation(tx: Queryable, conversationId: number): Promise<void> {
  await tx.query(lockConversation, [conversationId]);
  await tx.query(forget, [conversationId]);
}
