/** Sentences of one thread that may reach the others of an agent (D70). Each goes with the thread that it comes from. */
import { type Queryable, statement, type Tx } from '#libs/orm';

const listStatement = statement(
  'knowledge.list',
  `select f.id, f.body, t.thread_key, t.visitor_id, f.up_to_turn, iso_utc(f.created_at) as created_at, iso_utc(f.approved_at) as approved_at
   from agents.memory_facts f join agents.threads t on t.id = f.thread_id
   where f.agent_id = $1 and f.kind = 'knowledge' order by f.id`,
);
const approveStatement = statement(
  'knowledge.approve',
  `update agents.memory_facts set approved_at = coalesce(approved_at, clock_timestamp())
   where agent_id = $1 and kind = 'knowledge' and id = any($2::bigint[]) returning id`,
);
const countApprovedStatement = statement(
  'knowledge.count-approved',
  `select count(*)::integer as count from agents.memory_facts where agent_id = $1 and kind = 'knowledge' and approved_at is not null`,
);
const rejectStatement = statement(
  'knowledge.reject',
  `delete from agents.memory_facts where agent_id = $1 and kind = 'knowledge' and ($2::bigint[] is null or id = any($2::bigint[])) returning id`,
);

/** A sentence with where it comes from. */
export interface KnowledgeRow {
  readonly id: number;
  readonly body: string;
  readonly thread_key: string;
  /** Null in messaging chats. */
  readonly visitor_id: string | null;
  /** Last turn of the thread that had been read. */
  readonly up_to_turn: number;
  readonly created_at: string;
  /** Null while nobody has. */
  readonly approved_at: string | null;
}

/** Oldest first; bounded by what an agent keeps. */
export async function listKnowledge(db: Queryable, agentId: number): Promise<KnowledgeRow[]> {
  return await db.query<KnowledgeRow>(listStatement, [agentId]);
}

/** @returns the ids of those that are there */
export async function approveKnowledge(tx: Tx, agentId: number, ids: readonly number[]): Promise<number[]> {
  return (await tx.query<{ id: number }>(approveStatement, [agentId, ids])).map(({ id }) => id);
}

export async function countApproved(tx: Tx, agentId: number): Promise<number> {
  const [row] = await tx.query<{ count: number }>(countApprovedStatement, [agentId]);
  return row?.count ?? 0;
}

/** Deletes sentences; undefined = all of the agent. @returns the ids of those that were there */
export async function rejectKnowledge(tx: Tx, agentId: number, ids: readonly number[] | undefined): Promise<number[]> {
  return (await tx.query<{ id: number }>(rejectStatement, [agentId, ids ?? null])).map(({ id }) => id);
}
