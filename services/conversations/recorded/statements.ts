/** Statements of `/recorded` and its idempotency keys. */
import { statement } from '#libs/orm';
import { conversationColumns, nextUpdatedAt } from '../statements.ts';

/** $1 id, $2 step, $3 finish when it is still null, $4 infos, $5 config, $6 room or null. For callers that hold the row's lock. */
export const recordConversation = statement(
  'conversations.record',
  `update conversations.conversations c
   set step_id = $2, finish_at = coalesce(c.finish_at, $3::timestamptz), infos = c.infos || $4::jsonb, config = c.config || $5::jsonb,
       room = $6::jsonb, updated_at = ${nextUpdatedAt}
   where c.id = $1
   returning ${conversationColumns}`,
);

/** $1 conversation, $2 operation, $3 key, $4 now. A row while the key is kept. */
export const findIdempotencyKey = statement(
  'idempotency.find',
  `select 1 as found from conversations.idempotency_keys
   where conversation_id = $1 and operation = $2 and key = $3 and expires_at > $4::timestamptz`,
);

/** $1 conversation, $2 operation, $3 key, $4 end of its life. Replaces an expired one. */
export const keepIdempotencyKey = statement(
  'idempotency.keep',
  `insert into conversations.idempotency_keys (conversation_id, operation, key, expires_at)
   values ($1, $2, $3, $4::timestamptz)
   on conflict (conversation_id, operation, key) do update set expires_at = excluded.expires_at`,
);

/** $1 now, $2 most rows. */
export const dropExpiredKeys = statement(
  'idempotency.drop-expired',
  `delete from conversations.idempotency_keys
   where ctid in (select ctid from conversations.idempotency_keys where expires_at <= $1::timestamptz limit $2 for update skip locked)`,
);
