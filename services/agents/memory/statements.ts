/**
 * Memory of threads and agents. Whatever is made of a conversation hangs on its thread and goes with it; versions keep a job that read
 * something older than what is stored from writing.
 */
import { type Queryable, statement, type Tx } from '#libs/orm';
import type { KnowledgeMode } from '../config.ts';
import { maxKnowledgePerAgent, maxKnowledgePerThread, type RecalledMemory, type RememberedTurn } from './rules.ts';

const recallStatement = statement(
  'memory.recall',
  `select coalesce((select summary from agents.thread_memories where thread_id = $2), '') as summary,
     coalesce((select json_agg(body order by id) from agents.memory_facts where thread_id = $2 and kind = 'visitor'), '[]')::text as facts,
     coalesce(case $3::text
       when 'automatic' then (select json_agg(summary) from agents.agent_memories where agent_id = $1 and summary <> '')
       when 'reviewed' then (
         select json_agg(body order by id desc) from agents.memory_facts where agent_id = $1 and kind = 'knowledge' and approved_at is not null)
     end, '[]')::text as knowledge`,
);
const readThreadStatement = statement(
  'memory.read-thread',
  `select t.agent_id as "agentId", a.name || ' ' || a.prompt as "agentText", coalesce(m.version, 0) as version,
     coalesce(m.up_to_turn, 0) as "upToTurn", coalesce(m.summary, '') as summary,
     coalesce((select json_agg(f.body order by f.id) from agents.memory_facts f where f.thread_id = t.id and f.kind = 'visitor'), '[]')::text as facts
   from agents.threads t join agents.agents a on a.id = t.agent_id left join agents.thread_memories m on m.thread_id = t.id
   where t.id = $1`,
);
const readTurnsStatement = statement(
  'memory.read-turns',
  `select human.turn, human.body as "humanBody", agent.body as "agentBody"
   from agents.messages human
   join agents.messages agent on agent.thread_id = human.thread_id and agent.turn = human.turn and agent.note_type = 'chat_agent'
   where human.thread_id = $1 and human.note_type = 'chat_visitor' and human.turn > $2 order by human.turn limit $3`,
);
/** The thread's row first, as whoever forgets does. */
const lockThreadStatement = statement(
  'memory.lock-thread',
  `select coalesce((select version from agents.thread_memories m where m.thread_id = t.id), 0) as version, t.turn_count as turns
   from agents.threads t where t.id = $1 for update`,
);
const saveThreadStatement = statement(
  'memory.save-thread',
  `with memory as (
     insert into agents.thread_memories as m (thread_id, summary, up_to_turn) values ($1, $2, $3)
     on conflict (thread_id) do update set summary = excluded.summary, up_to_turn = excluded.up_to_turn, version = m.version + 1,
       updated_at = clock_timestamp()
   ), old as (
     delete from agents.memory_facts where thread_id = $1 and kind = 'visitor'
   )
   insert into agents.memory_facts (agent_id, thread_id, kind, body, up_to_turn)
   select t.agent_id, t.id, item.kind, item.body, $3
   from agents.threads t, (
     select 'visitor' as kind, body, position from unnest($4::text[]) with ordinality as f (body, position)
     union all
     select 'knowledge', body, 1000 + position from unnest($5::text[]) with ordinality as k (body, position)
     where not exists (
       select from agents.memory_facts known where known.thread_id = $1 and known.kind = 'knowledge' and lower(known.body) = lower(k.body)
     )
   ) as item
   where t.id = $1 order by item.position
   returning kind`,
);
/** What is new pushes out what is old, but nothing that an operator has approved. */
const trimStatement = statement(
  'memory.trim',
  `delete from agents.memory_facts where kind = 'knowledge' and agent_id = $1 and approved_at is null and (
     id in (select id from agents.memory_facts where thread_id = $2 and kind = 'knowledge' and approved_at is null order by id desc offset $3)
     or id in (select id from agents.memory_facts where agent_id = $1 and kind = 'knowledge' and approved_at is null order by id desc offset $4)
   )`,
);
const bumpAgentStatement = statement(
  'memory.bump-agent',
  `insert into agents.agent_memories as m (agent_id) values ($1)
   on conflict (agent_id) do update set version = m.version + 1, updated_at = clock_timestamp()`,
);
const readAgentStatement = statement(
  'memory.read-agent',
  `select coalesce((select version from agents.agent_memories where agent_id = a.id), 0) as version,
     coalesce((
       select json_agg(latest.body order by latest.id desc) from (
         select distinct on (lower(body)) id, body from agents.memory_facts
         where agent_id = a.id and kind = 'knowledge' order by lower(body), id desc
       ) latest
     ), '[]')::text as notes
   from agents.agents a where a.id = $1`,
);
const saveAgentStatement = statement(
  'memory.save-agent',
  `update agents.agent_memories set summary = $3, version = version + 1, updated_at = clock_timestamp()
   where agent_id = $1 and version = $2 returning 1`,
);

const dropSummariesStatement = statement(
  'memory.drop-summaries',
  `insert into agents.agent_memories as m (agent_id) select unnest($1::integer[])
   on conflict (agent_id) do update set summary = '', version = m.version + 1, updated_at = clock_timestamp()`,
);

/** What the agent remembers when it answers, of the thread and, as far as `mode` lets it, of others (D70). */
export async function recall(db: Queryable, agentId: number, threadId: number | undefined, mode: KnowledgeMode): Promise<RecalledMemory> {
  const values = [agentId, threadId ?? null, mode];
  const [row] = await db.query<{ summary: string; facts: string; knowledge: string }>(recallStatement, values);
  return { summary: row?.summary ?? '', facts: readList(row?.facts), knowledge: readList(row?.knowledge) };
}

export interface ThreadMemoryState {
  readonly agentId: number;
  /** Name and prompt. */
  readonly agentText: string;
  /** 0 = nothing remembered yet. */
  readonly version: number;
  readonly upToTurn: number;
  readonly summary: string;
  readonly facts: readonly string[];
}

/** Undefined when the thread is gone. */
export async function readThreadMemory(db: Queryable, threadId: number): Promise<ThreadMemoryState | undefined> {
  const [row] = await db.query<Omit<ThreadMemoryState, 'facts'> & { facts: string }>(readThreadStatement, [threadId]);
  return row === undefined ? undefined : { ...row, facts: readList(row.facts) };
}

/** Turns after the last remembered one, oldest first. */
export async function listTurnsToRemember(db: Queryable, threadId: number, afterTurn: number, limit: number): Promise<RememberedTurn[]> {
  return await db.query<RememberedTurn>(readTurnsStatement, [threadId, afterTurn, limit]);
}

/** Locks the thread; undefined when it is gone or somebody else changed its memory since `version` was read. */
export async function lockThreadMemory(tx: Tx, threadId: number, version: number): Promise<{ turns: number } | undefined> {
  const [row] = await tx.query<{ version: number; turns: number }>(lockThreadStatement, [threadId]);
  return row?.version === version ? { turns: row.turns } : undefined;
}

/** Under {@link lockThreadMemory}. @returns how many new sentences the agent got to know */
export async function saveThreadMemory(
  tx: Tx,
  thread: { id: number; agentId: number },
  memory: { summary: string; facts: readonly string[]; knowledge: readonly string[]; upToTurn: number },
): Promise<number> {
  const values = [thread.id, memory.summary, memory.upToTurn, memory.facts, memory.knowledge];
  const rows = await tx.query<{ kind: string }>(saveThreadStatement, values);
  const added = rows.filter(({ kind }) => kind === 'knowledge').length;
  if (added > 0) {
    await tx.query(trimStatement, [thread.agentId, thread.id, maxKnowledgePerThread, maxKnowledgePerAgent]);
    await tx.query(bumpAgentStatement, [thread.agentId]);
  }
  return added;
}

/** Notes newest first; undefined when the agent is gone. */
export async function readAgentMemory(db: Queryable, agentId: number): Promise<{ version: number; notes: string[] } | undefined> {
  const [row] = await db.query<{ version: number; notes: string }>(readAgentStatement, [agentId]);
  return row === undefined ? undefined : { version: row.version, notes: readList(row.notes) };
}

/** False when the notes changed since `version` was read: another job makes the summary of them. */
export async function saveAgentSummary(tx: Tx, agentId: number, version: number, summary: string): Promise<boolean> {
  return (await tx.query(saveAgentStatement, [agentId, version, summary])).length > 0;
}

/** What was made of sentences that may be gone: made anew from those that are left, where that is done. */
export async function dropSummaries(tx: Tx, agentIds: readonly number[]): Promise<void> {
  await tx.query(dropSummariesStatement, [agentIds]);
}

function readList(json: string | undefined): string[] {
  return JSON.parse(json ?? '[]') as string[];
}
