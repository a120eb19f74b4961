/** What is deleted of threads, and of turns in threads that stay. */
import { sql, statement, t } from '#libs/sql';

/**
 * The threads concerned, locked; `whole` when all of the thread goes. Exactly one of thread, visitor and sender is given, or none for all
 * threads of the agent. A private chat has the number of its user (`userId`).
 */
export const lockThreads = statement.many({
  name: 'forget.lock',
  params: {
    agentId: t.integer.nullable,
    threadKey: t.text.nullable,
    visitorId: t.text.nullable,
    sender: t.text.nullable,
    userId: t.text.nullable,
  },
  row: { id: t.bigint, agentId: t.integer, whole: t.boolean },
  sql: ({ agentId, threadKey, visitorId, sender, userId }) => sql`select t.id, t.agent_id as "agentId", not (
      ${sender} is not null and not starts_with(t.thread_key, 'telegram:chat:' || ${userId} || ':agent:') and exists (
        select from agents.messages m where m.thread_id = t.id and m.note_type = 'chat_visitor' and m.sender is distinct from ${sender})
    ) as whole
    from agents.threads t
    where (${agentId} is null or t.agent_id = ${agentId})
      and (${threadKey} is null or t.thread_key = ${threadKey})
      and (${visitorId} is null or t.visitor_id = ${visitorId})
      and (${sender} is null or starts_with(t.thread_key, 'telegram:chat:' || ${userId} || ':agent:')
        or t.id in (select thread_id from agents.messages where sender = ${sender}))
    order by t.id for update`,
});

const counts = { messages: t.integer, facts: t.integer };

export const countThreadData = statement.one({
  name: 'forget.count',
  params: { threadIds: t.bigint.array },
  row: counts,
  sql: ({ threadIds }) => sql`select (select count(*)::integer from agents.messages where thread_id = any(${threadIds})) as messages,
    (select count(*)::integer from agents.memory_facts where thread_id = any(${threadIds})) as facts`,
});

export const deleteChatHits = statement.none({
  name: 'forget.hits',
  params: { threadIds: t.bigint.array },
  sql: ({ threadIds }) => sql`delete from agents.chat_hits h using agents.threads t
    where t.id = any(${threadIds}) and t.visitor_id is not null and starts_with(h.key, t.agent_id || ':' || t.visitor_id || ':')`,
});

export const deleteThreads = statement.none({
  name: 'forget.threads',
  params: { threadIds: t.bigint.array },
  sql: ({ threadIds }) => sql`delete from agents.threads where id = any(${threadIds})`,
});

/**
 * Both messages of a turn: the answer may repeat what was asked, and so may what an operator said after it. Turns under way have read it, so they
 * lose their turn.
 */
export const deleteTurns = statement.one({
  name: 'forget.turns',
  params: { threadIds: t.bigint.array, sender: t.text.nullable },
  row: counts,
  sql: ({ threadIds, sender }) => sql`with turns as (
      select thread_id, turn from agents.messages where thread_id = any(${threadIds}) and sender = ${sender}
    ), messages as (
      delete from agents.messages m
      using (select thread_id, array_agg(turn) as numbers, min(turn) as first from turns group by thread_id) as gone
      where m.thread_id = gone.thread_id
        and (m.turn = any(gone.numbers) or (m.note_type = 'chat_operator' and m.turn > gone.first)) returning 1
    ), facts as (
      delete from agents.memory_facts where thread_id = any(${threadIds}) returning 1
    ), tickets as (
      delete from agents.turn_tickets where thread_id = any(${threadIds})
    ), memories as (
      insert into agents.thread_memories as m (thread_id) select unnest(${threadIds})
      on conflict (thread_id) do update set summary = '', up_to_turn = 0, version = m.version + 1, updated_at = clock_timestamp()
    )
    select (select count(*)::integer from messages) as messages, (select count(*)::integer from facts) as facts`,
});
