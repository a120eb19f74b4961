/** Sentences of one thread that may reach the others of an agent (D70). Each goes with the thread that it comes from. */
import { sql, statement, t } from '#libs/sql';

/** Oldest first; bounded by what an agent keeps. Each null for any. */
export const listKnowledge = statement.many({
  name: 'knowledge.list',
  planned: 'each-call',
  params: { agentId: t.integer, isApproved: t.boolean.nullable, after: t.bigint.nullable, limit: t.integer.nullable },
  row: {
    id: t.bigint,
    body: t.text,
    thread_id: t.bigint,
    channel: t.text,
    thread_key: t.text,
    /** Null in messaging chats. */
    visitor_id: t.text.nullable,
    /** Last turn of the thread that had been read. */
    up_to_turn: t.integer,
    created_at: t.text,
    /** Null while nobody has. */
    approved_at: t.text.nullable,
  },
  sql: ({ agentId, isApproved, after, limit }) => sql`
    select f.id, f.body, t.id as thread_id, t.channel, t.thread_key, t.visitor_id, f.up_to_turn, iso_utc(f.created_at) as created_at,
      iso_utc(f.approved_at) as approved_at
    from agents.memory_facts f join agents.threads t on t.id = f.thread_id
    where f.agent_id = ${agentId} and f.kind = 'knowledge' and (${after} is null or f.id > ${after})
      and (${isApproved} is null or (f.approved_at is not null) = ${isApproved})
    order by f.id limit ${limit}`,
});

/** @returns those that are there */
export const approveKnowledge = statement.many({
  name: 'knowledge.approve',
  params: { agentId: t.integer, ids: t.bigint.array },
  row: { id: t.bigint, was_approved: t.boolean },
  sql: ({ agentId, ids }) => sql`
    with before as (select id, approved_at is not null as was_approved from agents.memory_facts
      where agent_id = ${agentId} and kind = 'knowledge' and id = any(${ids}) order by id for update)
    update agents.memory_facts f set approved_at = coalesce(f.approved_at, clock_timestamp()) from before where f.id = before.id
    returning f.id, before.was_approved`,
});

export const countApproved = statement.one({
  name: 'knowledge.count-approved',
  params: { agentId: t.integer },
  row: { count: t.integer },
  sql: ({ agentId }) => sql`select count(*)::integer as count from agents.memory_facts
    where agent_id = ${agentId} and kind = 'knowledge' and approved_at is not null`,
});

/** Deletes sentences; null = all of the agent. @returns those that were there */
export const rejectKnowledge = statement.many({
  name: 'knowledge.reject',
  params: { agentId: t.integer, ids: t.bigint.array.nullable },
  row: { id: t.bigint },
  sql: ({ agentId, ids }) => sql`delete from agents.memory_facts
    where agent_id = ${agentId} and kind = 'knowledge' and (${ids} is null or id = any(${ids})) returning id`,
});
