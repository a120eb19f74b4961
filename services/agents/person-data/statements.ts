/** Messages of one person with all agents. */
import { sql, statement, t } from '#libs/sql';

const isTheirs = sql`(m.thread_id in (select id from own) or (m.thread_id, m.turn) in (select thread_id, turn from asked))`;

/**
 * `users` are ids of Telegram as text; what they asked in groups counts with its answer. What `accounts` wrote as operators is handed out without the
 * key of the thread, under which anybody may go on as its visitor.
 */
export const listMessagesOf = statement.many({
  name: 'person-data.messages',
  params: { visitors: t.text.array, users: t.text.array, accounts: t.integer.array, after: t.bigint, limit: t.integer },
  row: { id: t.bigint, item: t.text },
  sql: ({ visitors, users, accounts, after, limit }) => sql`with own as (
      select t.id from agents.threads t where t.visitor_id = any(${visitors})
      union select t.id from agents.threads t join agents.agents a on a.id = t.agent_id
        join unnest(${users}) as given(telegram) on t.thread_key = 'telegram:chat:' || given.telegram || ':agent:' || a.id
    ), asked as (
      select m.thread_id, m.turn from agents.messages m
      where m.sender = any(select 'telegram:user:' || given.telegram from unnest(${users}) as given(telegram))
    )
    select m.id, json_build_object('agent', a.slug, 'thread_key', case when ${isTheirs} then t.thread_key end, 'note_type', m.note_type, 'body', m.body,
      'created_at', agents.iso_utc(m.created_at))::text as item
    from agents.messages m join agents.threads t on t.id = m.thread_id join agents.agents a on a.id = t.agent_id
    where m.id > ${after} and (${isTheirs} or m.account_id = any(${accounts}))
    order by m.id limit ${limit}`,
});
