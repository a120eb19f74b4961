/** Statements of `/recorded` and its idempotency keys. */
import { keyStatements } from '#libs/idempotency';
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

/** Keys of `/recorded`, by conversation. */
export const recordedKeys = keyStatements({ name: 'recorded-keys', table: 'conversations.idempotency_keys', scope: 'conversation_id' });
