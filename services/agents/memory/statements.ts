/**
 * Statements on the memory of threads and agents. Derived data belongs to its thread and is deleted with it; versions
 * prevent jobs from overwriting newer data.
 */
import { sql, statement, t } from '#libs/infrastructure/sql';
import type { KnowledgeMode } from '../config.ts';

/** Returns the memory for a reply. `facts` and `knowledge` are JSON arrays. */
export const findMemoryForReply = statement.one({
  name: 'memory.recall',
  params: { agentId: t.integer, threadId: t.bigint.nullable, mode: t.text.as<KnowledgeMode>() },
  row: { summary: t.text, facts: t.text, knowledge: t.text },
  sql: ({ agentId, threadId, mode }) => sql`select
    coalesce((select summary from agents.thread_memories where thread_id = ${threadId}), '') as summary,
    coalesce((select json_agg(body order by id) from agents.memory_facts where thread_id = ${threadId} and kind = 'visitor'), '[]')::text as facts,
    coalesce(case ${mode}
      when 'automatic' then (select json_agg(summary) from agents.agent_memories where agent_id = ${agentId} and summary <> '')
      when 'reviewed' then (
        select json_agg(body order by id desc) from agents.memory_facts
        where agent_id = ${agentId} and kind = 'knowledge' and approved_at is not null)
    end, '[]')::text as knowledge`,
});

/**
 * Returns the memory of a thread, or undefined when the thread does not exist. Version 0 = no memory yet; `facts` is a
 * JSON array.
 */
export const findThreadMemory = statement.maybeOne({
  name: 'memory.read-thread',
  params: { threadId: t.bigint },
  row: {
    agentId: t.integer,
    agentText: t.text,
    version: t.integer,
    upToTurn: t.integer,
    summary: t.text,
    facts: t.text,
  },
  sql: ({
    threadId,
  }) => sql`select t.agent_id as "agentId", a.name || ' ' || a.prompt as "agentText", coalesce(m.version, 0) as version,
      coalesce(m.up_to_turn, 0) as "upToTurn", coalesce(m.summary, '') as summary, coalesce((
        select json_agg(f.body order by f.id) from agents.memory_facts f where f.thread_id = t.id and f.kind = 'visitor'), '[]')::text as facts
    from agents.threads t join agents.agents a on a.id = t.agent_id left join agents.thread_memories m on m.thread_id = t.id
    where t.id = ${threadId}`,
});

/** Returns the turns after the last remembered one, oldest first. */
export const listTurnsToRemember = statement.many({
  name: 'memory.read-turns',
  params: { threadId: t.bigint, afterTurn: t.integer, limit: t.integer },
  row: { turn: t.integer, humanBody: t.text, agentBody: t.text, operatorBody: t.text },
  sql: ({
    threadId,
    afterTurn,
    limit,
  }) => sql`select turn, coalesce(max(body) filter (where note_type = 'chat_visitor'), '') as "humanBody",
      coalesce(max(body) filter (where note_type = 'chat_agent'), '') as "agentBody",
      coalesce(max(body) filter (where note_type = 'chat_operator'), '') as "operatorBody"
    from agents.messages where thread_id = ${threadId} and turn > ${afterTurn} group by turn order by turn limit ${limit}`,
});

/** Locks the thread's row. Like erasure, memory jobs lock it before all other rows. */
export const lockThread = statement.maybeOne({
  name: 'memory.lock-thread',
  params: { threadId: t.bigint },
  row: { version: t.integer, turns: t.integer },
  sql: ({ threadId }) =>
    sql`select coalesce((select version from agents.thread_memories m where m.thread_id = t.id), 0) as version, t.turn_count as turns
      from agents.threads t where t.id = ${threadId} for update`,
});

/** Replaces the memory of a thread. Returns a row per new fact and sentence. */
export const replaceThreadMemory = statement.many({
  name: 'memory.save-thread',
  params: { threadId: t.bigint, summary: t.text, upToTurn: t.integer, facts: t.text.array, knowledge: t.text.array },
  row: { kind: t.text },
  sql: ({ threadId, summary, upToTurn, facts, knowledge }) => sql`with memory as (
      insert into agents.thread_memories as m (thread_id, summary, up_to_turn) values (${threadId}, ${summary}, ${upToTurn})
      on conflict (thread_id) do update set summary = excluded.summary, up_to_turn = excluded.up_to_turn, version = m.version + 1,
        updated_at = clock_timestamp()
    ), old as (
      delete from agents.memory_facts where thread_id = ${threadId} and kind = 'visitor'
    )
    insert into agents.memory_facts (agent_id, thread_id, kind, body, up_to_turn)
    select t.agent_id, t.id, item.kind, item.body, ${upToTurn}
    from agents.threads t, (
      select 'visitor' as kind, body, position from unnest(${facts}) with ordinality as f (body, position)
      union all
      select 'knowledge', body, 1000 + position from unnest(${knowledge}) with ordinality as k (body, position)
      where not exists (
        select from agents.memory_facts existing
        where existing.thread_id = ${threadId} and existing.kind = 'knowledge' and lower(existing.body) = lower(k.body)
      )
    ) as item
    where t.id = ${threadId} order by item.position
    returning kind`,
});

/** Deletes the oldest sentences over the limits, except approved ones. */
export const trimKnowledge = statement.none({
  name: 'memory.trim',
  params: { agentId: t.integer, threadId: t.bigint, perThread: t.integer, perAgent: t.integer },
  sql: ({ agentId, threadId, perThread, perAgent }) => sql`delete from agents.memory_facts
    where kind = 'knowledge' and agent_id = ${agentId} and approved_at is null and (
      id in (select id from agents.memory_facts
        where thread_id = ${threadId} and kind = 'knowledge' and approved_at is null order by id desc offset ${perThread})
      or id in (select id from agents.memory_facts
        where agent_id = ${agentId} and kind = 'knowledge' and approved_at is null order by id desc offset ${perAgent})
    )`,
});

/** Increments the version because the notes have changed; running jobs then write nothing. */
export const raiseAgentMemoryVersion = statement.none({
  name: 'memory.bump-agent',
  params: { agentId: t.integer },
  sql: ({ agentId }) => sql`insert into agents.agent_memories as m (agent_id) values (${agentId})
    on conflict (agent_id) do update set version = m.version + 1, updated_at = clock_timestamp()`,
});

/**
 * Returns the memory of an agent, or undefined when the agent does not exist. `notes` is a JSON array, newest first.
 */
export const findAgentMemory = statement.maybeOne({
  name: 'memory.read-agent',
  params: { agentId: t.integer },
  row: { version: t.integer, notes: t.text },
  sql: ({
    agentId,
  }) => sql`select coalesce((select version from agents.agent_memories where agent_id = a.id), 0) as version,
      coalesce((
        select json_agg(latest.body order by latest.id desc) from (
          select distinct on (lower(body)) id, body from agents.memory_facts
          where agent_id = a.id and kind = 'knowledge' order by lower(body), id desc
        ) latest
      ), '[]')::text as notes
    from agents.agents a where a.id = ${agentId}`,
});

/**
 * Saves the summary of an agent. Returns undefined when the notes have changed since `version`; another job will
 * summarise them.
 */
export const saveAgentSummary = statement.maybeOne({
  name: 'memory.save-agent',
  params: { agentId: t.integer, version: t.integer, summary: t.text },
  row: { version: t.integer },
  sql: ({ agentId, version, summary }) => sql`update agents.agent_memories
    set summary = ${summary}, version = version + 1, updated_at = clock_timestamp()
    where agent_id = ${agentId} and version = ${version} returning version`,
});

/**
 * Clears summaries derived from deleted sentences. A job rebuilds them for agents that share sentences automatically.
 */
export const dropSummaries = statement.none({
  name: 'memory.drop-summaries',
  params: { agentIds: t.integer.array },
  sql: ({ agentIds }) => sql`insert into agents.agent_memories as m (agent_id) select unnest(${agentIds})
    on conflict (agent_id) do update set summary = '', version = m.version + 1, updated_at = clock_timestamp()`,
});

/** Returns knowledge sentences, oldest first. A null filter matches all. */
export const listKnowledge = statement.many({
  name: 'knowledge.list',
  planned: 'each-call',
  params: { agentId: t.integer, isApproved: t.boolean.nullable, after: t.bigint.nullable, limit: t.integer },
  row: {
    id: t.bigint,
    body: t.text,
    thread_id: t.bigint,
    channel: t.text,
    /** Last turn that was read for the sentence. */
    up_to_turn: t.integer,
    created_at: t.text,
    /** Null = not approved. */
    approved_at: t.text.nullable,
  },
  sql: ({ agentId, isApproved, after, limit }) => sql`
    select f.id, f.body, t.id as thread_id, t.channel, f.up_to_turn, iso_utc(f.created_at) as created_at,
      iso_utc(f.approved_at) as approved_at
    from agents.memory_facts f join agents.threads t on t.id = f.thread_id
    where f.agent_id = ${agentId} and f.kind = 'knowledge' and (${after} is null or f.id > ${after})
      and (${isApproved} is null or (f.approved_at is not null) = ${isApproved})
    order by f.id limit ${limit}`,
});

/** Approves sentences. Returns the sentences found. */
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

/** Deletes rejected sentences; null = all sentences of the agent. Returns the deleted sentences. */
export const rejectKnowledge = statement.many({
  name: 'knowledge.reject',
  params: { agentId: t.integer, ids: t.bigint.array.nullable },
  row: { id: t.bigint },
  sql: ({ agentId, ids }) => sql`delete from agents.memory_facts
    where agent_id = ${agentId} and kind = 'knowledge' and (${ids} is null or id = any(${ids})) returning id`,
});
