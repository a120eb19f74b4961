/** Memory of threads and agents: other features read it here and request its renewal. */
import type { Jobs } from '#libs/infrastructure/jobs';
import type { Tx } from '#libs/infrastructure/orm';
import type { Queryable } from '#libs/infrastructure/sql';
import type { AgentsConfig, KnowledgeMode } from '../config.ts';
import { agents } from '../contract.ts';
import type { ReplyMemory } from './rules.ts';
import { findMemoryForReply } from './statements.ts';

export { maxKnowledgePerAgent, type ReplyMemory } from './rules.ts';
export { dropSummaries } from './statements.ts';

interface EnqueueDependencies {
  readonly config: Pick<AgentsConfig, 'AGENT_KNOWLEDGE' | 'MEMORY_DELAY_MS'>;
  readonly jobs: Pick<Jobs, 'enqueue'>;
}

/** The summary of an agent depends on many threads, so it is renewed less often than the memory of a thread. */
const agentDelayFactor = 6;

/**
 * Returns the memory for a reply: the memory of the thread and, as far as `mode` allows, knowledge from other threads
 * of the agent (D70).
 */
export async function readMemory(
  db: Queryable,
  of: { agentId: number; threadId: number | undefined; mode: KnowledgeMode },
): Promise<ReplyMemory> {
  const { summary, facts, knowledge } = await findMemoryForReply(db, of);
  return { summary, facts: readList(facts), knowledge: readList(knowledge) };
}

export function readList(json: string): string[] {
  return JSON.parse(json) as string[];
}

/**
 * Enqueues a job that renews the memory of a thread after the transaction. One queued job covers all turns recorded
 * before it runs.
 */
export async function enqueueThreadMemory(
  tx: Tx,
  { config, jobs }: EnqueueDependencies,
  threadId: number,
  delayMs = config.MEMORY_DELAY_MS,
): Promise<void> {
  await jobs.enqueue(tx, agents.jobs.threadMemory, { thread_id: threadId }, { key: `thread:${threadId}`, delayMs });
}

/**
 * Enqueues a job that renews the summary of an agent after the transaction. Without automatic sharing, agents have no
 * summary and no job is enqueued (D70).
 */
export async function enqueueAgentMemory(
  tx: Tx,
  { config, jobs }: EnqueueDependencies,
  agentId: number,
): Promise<void> {
  if (config.AGENT_KNOWLEDGE !== 'automatic') return;
  const options = { key: `agent:${agentId}`, delayMs: config.MEMORY_DELAY_MS * agentDelayFactor };
  await jobs.enqueue(tx, agents.jobs.agentMemory, { agent_id: agentId }, options);
}
