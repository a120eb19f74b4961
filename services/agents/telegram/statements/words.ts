/** What operators say in a chat, in parts on their way (H3). Every write names the fence of the attempt that makes it, as those of replies do. */
import { sql, statement, t } from '#libs/sql';
import type { SendStatus } from './sends.ts';

export const planOperatorSends = statement.none({
  name: 'words.plan',
  params: { messageId: t.bigint, chat: t.bigint, parts: t.integer },
  sql: ({ messageId, chat, parts }) => sql`insert into agents.operator_sends (message_id, part, chat)
    select ${messageId}, part, ${chat} from generate_series(1, ${parts}) as part`,
});

/** The first part of the oldest message of an operator that is not over; one that an attempt left as `sending` is neither. */
export const findNextOperatorSend = statement.maybeOne({
  name: 'words.next-of-chat',
  params: { chat: t.bigint },
  row: { messageId: t.bigint, part: t.integer, plain: t.boolean, html: t.text, expired: t.boolean },
  sql: ({ chat }) => sql`select s.message_id as "messageId", s.part, s.plain, m.html,
      clock_timestamp() - s.created_at > interval '24 hours' as expired
    from agents.operator_sends s join agents.messages m on m.id = s.message_id
    where s.chat = ${chat} and s.status in ('planned', 'sending') order by s.message_id, s.part limit 1`,
});

/** What an attempt that died left as `sending` may have arrived. */
export const markOrphanedOperatorSends = statement.none({
  name: 'words.mark-orphans',
  params: { chat: t.bigint },
  sql: ({ chat }) => sql`update agents.operator_sends
    set status = 'unknown', error = 'The process ended while it was sent.', updated_at = clock_timestamp()
    where chat = ${chat} and status = 'sending'`,
});

/** Undefined when a later attempt has the chat, or the message was forgotten: nothing was written and nothing may be sent. */
export const updateOperatorSend = statement.maybeOne({
  name: 'words.write',
  params: {
    chat: t.bigint,
    fence: t.bigint,
    messageId: t.bigint,
    part: t.integer,
    status: t.text.as<SendStatus>(),
    /** Null: as before. */
    chatId: t.bigint.nullable,
    sentMessageId: t.bigint.nullable,
    error: t.text.nullable,
    plain: t.boolean,
  },
  row: { part: t.integer },
  sql: ({ chat, fence, messageId, part, status, chatId, sentMessageId, error, plain }) => sql`update agents.operator_sends s
    set status = ${status}, chat_id = coalesce(${chatId}, s.chat_id), sent_message_id = ${sentMessageId}, error = ${error},
      plain = s.plain or ${plain}, updated_at = clock_timestamp()
    from agents.telegram_chats c
    where c.id = ${chat} and c.fence = ${fence} and s.message_id = ${messageId} and s.part = ${part} returning s.part`,
});

/** No part that waits in the chat is sent: there is nobody who could send it, or it failed too often. */
export const abandonOperatorSends = statement.none({
  name: 'words.give-up',
  params: { chat: t.bigint, fence: t.bigint, error: t.text },
  sql: ({ chat, fence, error }) => sql`update agents.operator_sends s
    set status = 'given_up', error = ${error}, updated_at = clock_timestamp()
    from agents.telegram_chats c where c.id = ${chat} and c.fence = ${fence} and s.chat = c.id and s.status = 'planned'`,
});
