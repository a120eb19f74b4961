/** Parts of replies on their way (D33b). Every write names the fence of the attempt that makes it: an older attempt writes nothing. */
import { type RowOf, sql, statement, t } from '#libs/sql';

export type SendStatus = 'planned' | 'sending' | 'sent' | 'unknown' | 'refused' | 'blocked' | 'given_up';

const columns = { part: t.integer, status: t.text.as<SendStatus>(), plain: t.boolean, bare: t.boolean };
export type SendRow = RowOf<typeof columns>;

export const listSends = statement.many({
  name: 'sends.list',
  params: { receiptId: t.bigint },
  row: columns,
  sql: ({ receiptId }) => sql`select part, status, plain, bare from agents.telegram_sends where receipt_id = ${receiptId} order by part`,
});

/** What an attempt that died left as `sending` may have arrived. */
export const markOrphans = statement.none({
  name: 'sends.mark-orphans',
  params: { receiptId: t.bigint },
  sql: ({ receiptId }) => sql`update agents.telegram_sends
    set status = 'unknown', error = 'The process ended while it was sent.', updated_at = clock_timestamp()
    where receipt_id = ${receiptId} and status = 'sending'`,
});

/** Undefined when a later attempt has the chat: nothing was written and nothing may be sent. */
export const updateSend = statement.maybeOne({
  name: 'sends.write',
  params: {
    chat: t.bigint,
    fence: t.bigint,
    receiptId: t.bigint,
    part: t.integer,
    status: t.text.as<SendStatus>(),
    /** Null: as before. */
    chatId: t.bigint.nullable,
    messageId: t.bigint.nullable,
    error: t.text.nullable,
    plain: t.boolean,
    bare: t.boolean,
  },
  row: { part: t.integer },
  sql: ({ chat, fence, receiptId, part, status, chatId, messageId, error, plain, bare }) => sql`update agents.telegram_sends s
    set status = ${status}, chat_id = coalesce(${chatId}, s.chat_id), message_id = ${messageId}, error = ${error},
      plain = s.plain or ${plain}, bare = s.bare or ${bare}, updated_at = clock_timestamp()
    from agents.telegram_chats c
    where c.id = ${chat} and c.fence = ${fence} and s.receipt_id = ${receiptId} and s.part = ${part} returning s.part`,
});

/** An operator has looked: whatever did not surely arrive is sent again. @returns those parts */
export const replanSends = statement.many({
  name: 'sends.repeat',
  params: { receiptId: t.bigint },
  row: { part: t.integer },
  sql: ({ receiptId }) => sql`update agents.telegram_sends set status = 'planned', updated_at = clock_timestamp()
    where receipt_id = ${receiptId} and status in ('unknown', 'refused', 'blocked', 'given_up') returning part`,
});

export const clearSends = statement.none({
  name: 'sends.clear',
  params: { receiptId: t.bigint },
  sql: ({ receiptId }) => sql`delete from agents.telegram_sends where receipt_id = ${receiptId}`,
});
