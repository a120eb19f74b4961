/**
 * Statements on sends of replies and of operators' messages, in parts (D33b, H3). Updates check the fence, so that
 * earlier attempts write nothing.
 */
import { type RowOf, sql, statement, t } from '#libs/infrastructure/sql';

export type SendStatus = 'planned' | 'sending' | 'sent' | 'unknown' | 'refused' | 'blocked' | 'given_up';

const columns = { part: t.integer, status: t.text.as<SendStatus>(), plain: t.boolean, bare: t.boolean };
export type SendRow = RowOf<typeof columns>;

export const listSends = statement.many({
  name: 'sends.list',
  params: { receiptId: t.bigint },
  row: columns,
  sql: ({ receiptId }) =>
    sql`select part, status, plain, bare from agents.telegram_sends where receipt_id = ${receiptId} order by part`,
});

/** Marks sends interrupted by a crash as `unknown`, since they may have arrived. */
export const markOrphans = statement.none({
  name: 'sends.mark-orphans',
  params: { receiptId: t.bigint },
  sql: ({ receiptId }) => sql`update agents.telegram_sends
    set status = 'unknown', error = 'The process ended during the send.', updated_at = clock_timestamp()
    where receipt_id = ${receiptId} and status = 'sending'`,
});

/** Updates a part. Returns undefined when a later attempt has claimed the chat: nothing may be sent. */
export const updateSend = statement.maybeOne({
  name: 'sends.write',
  params: {
    chat: t.bigint,
    fence: t.bigint,
    receiptId: t.bigint,
    part: t.integer,
    status: t.text.as<SendStatus>(),
    /** Null = unchanged. */
    chatId: t.bigint.nullable,
    messageId: t.bigint.nullable,
    error: t.text.nullable,
    plain: t.boolean,
    bare: t.boolean,
  },
  row: { part: t.integer },
  sql: ({
    chat,
    fence,
    receiptId,
    part,
    status,
    chatId,
    messageId,
    error,
    plain,
    bare,
  }) => sql`update agents.telegram_sends s
    set status = ${status}, chat_id = coalesce(${chatId}, s.chat_id), message_id = ${messageId}, error = ${error},
      plain = s.plain or ${plain}, bare = s.bare or ${bare}, updated_at = clock_timestamp()
    from agents.telegram_chats c
    where c.id = ${chat} and c.fence = ${fence} and s.receipt_id = ${receiptId} and s.part = ${part} returning s.part`,
});

/** Plans all parts again that may not have arrived, and returns them. */
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

export const planOperatorSends = statement.none({
  name: 'words.plan',
  params: { messageId: t.bigint, chat: t.bigint, parts: t.integer },
  sql: ({ messageId, chat, parts }) => sql`insert into agents.operator_sends (message_id, part, chat)
    select ${messageId}, part, ${chat} from generate_series(1, ${parts}) as part`,
});

/** Returns the first unfinished part of the oldest operator message. */
export const findNextOperatorSend = statement.maybeOne({
  name: 'words.next-of-chat',
  params: { chat: t.bigint },
  row: { messageId: t.bigint, part: t.integer, plain: t.boolean, html: t.text, expired: t.boolean },
  sql: ({ chat }) => sql`select s.message_id as "messageId", s.part, s.plain, m.html,
      clock_timestamp() - s.created_at > interval '24 hours' as expired
    from agents.operator_sends s join agents.messages m on m.id = s.message_id
    where s.chat = ${chat} and s.status in ('planned', 'sending') order by s.message_id, s.part limit 1`,
});

/** Marks operators' sends interrupted by a crash as `unknown`, since they may have arrived. */
export const markOrphanedOperatorSends = statement.none({
  name: 'words.mark-orphans',
  params: { chat: t.bigint },
  sql: ({ chat }) => sql`update agents.operator_sends
    set status = 'unknown', error = 'The process ended during the send.', updated_at = clock_timestamp()
    where chat = ${chat} and status = 'sending'`,
});

/**
 * Updates a part. Returns undefined when a later attempt has claimed the chat or the message was erased: nothing may be
 * sent.
 */
export const updateOperatorSend = statement.maybeOne({
  name: 'words.write',
  params: {
    chat: t.bigint,
    fence: t.bigint,
    messageId: t.bigint,
    part: t.integer,
    status: t.text.as<SendStatus>(),
    /** Null = unchanged. */
    chatId: t.bigint.nullable,
    sentMessageId: t.bigint.nullable,
    error: t.text.nullable,
    plain: t.boolean,
  },
  row: { part: t.integer },
  sql: ({
    chat,
    fence,
    messageId,
    part,
    status,
    chatId,
    sentMessageId,
    error,
    plain,
  }) => sql`update agents.operator_sends s
    set status = ${status}, chat_id = coalesce(${chatId}, s.chat_id), sent_message_id = ${sentMessageId}, error = ${error},
      plain = s.plain or ${plain}, updated_at = clock_timestamp()
    from agents.telegram_chats c
    where c.id = ${chat} and c.fence = ${fence} and s.message_id = ${messageId} and s.part = ${part} returning s.part`,
});

/** Marks all planned parts of the chat as given up, without sending them. */
export const abandonOperatorSends = statement.none({
  name: 'words.give-up',
  params: { chat: t.bigint, fence: t.bigint, error: t.text },
  sql: ({ chat, fence, error }) => sql`update agents.operator_sends s
    set status = 'given_up', error = ${error}, updated_at = clock_timestamp()
    from agents.telegram_chats c where c.id = ${chat} and c.fence = ${fence} and s.chat = c.id and s.status = 'planned'`,
});
