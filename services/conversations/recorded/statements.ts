/** Statements of `/recorded` and its idempotency keys. */
import { sql, statement, t } from '#libs/sql';
import { nextUpdatedAt, wholeConversation } from '../statements.ts';

/** `finish` counts when there is none; it is never before the start. For callers that hold the row's lock. */
export const recordConversation = statement.maybeOne({
  name: 'conversations.record',
  params: { id: t.integer, stepId: t.integer.nullable, finish: t.instant, infos: t.json, config: t.json, room: t.json.nullable },
  row: wholeConversation.row,
  sql: ({ id, stepId, finish, infos, config, room }) => sql`
    update conversations.conversations c
    set step_id = ${stepId}, finish_at = coalesce(c.finish_at, greatest(c.start_at, ${finish})), infos = c.infos || ${infos}, config = c.config || ${config},
        room = ${room}, updated_at = ${nextUpdatedAt}
    where c.id = ${id}
    returning ${wholeConversation.columns}`,
});

const idempotencyKey = { conversationId: t.integer, operation: t.text, key: t.text };

/** A row while the key is kept. */
export const findIdempotencyKey = statement.maybeOne({
  name: 'idempotency.find',
  params: { ...idempotencyKey, now: t.instant },
  row: { key: t.text },
  sql: ({ conversationId, operation, key, now }) => sql`
    select key from conversations.idempotency_keys
    where conversation_id = ${conversationId} and operation = ${operation} and key = ${key} and expires_at > ${now}`,
});

/** Replaces an expired one. */
export const keepIdempotencyKey = statement.none({
  name: 'idempotency.keep',
  params: { ...idempotencyKey, expiresAt: t.instant },
  sql: ({ conversationId, operation, key, expiresAt }) => sql`
    insert into conversations.idempotency_keys (conversation_id, operation, key, expires_at)
    values (${conversationId}, ${operation}, ${key}, ${expiresAt})
    on conflict (conversation_id, operation, key) do update set expires_at = excluded.expires_at`,
});

/** Keys of one statement, so that no lock is held for long. */
export const keysAtOnce = 10_000;

/** What another process drops at the same time is left to it. */
export const dropExpiredKeys = statement.one({
  name: 'idempotency.drop-expired',
  params: { now: t.instant },
  row: { count: t.integer },
  sql: ({ now }) => sql`
    with dropped as (
      delete from conversations.idempotency_keys
      where ctid in (
        select ctid from conversations.idempotency_keys where expires_at <= ${now} limit ${keysAtOnce} for update skip locked)
      returning 1)
    select count(*)::integer as count from dropped`,
});
