/** Memory as it is stored: read for an answer and for the jobs, and replaced by what a job has made. */
import type { Tx } from '#libs/orm';
import type { Queryable } from '#libs/sql';
import type { KnowledgeMode } from '../config.ts';
import { maxKnowledgePerAgent, maxKnowledgePerThread, type ReplyMemory } from './rules.ts';
import {
  raiseAgentMemoryVersion,
  findAgentMemory,
  findMemoryForReply,
  findThreadMemory,
  lockThread,
  replaceThreadMemory,
  trimKnowledge,
} from './statements.ts';

/** What the agent remembers when it answers, of the thread and, as far as `mode` lets it, of others (D70). */
export async function readMemory(
  db: Queryable,
  of: { agentId: number; threadId: number | undefined; mode: KnowledgeMode },
): Promise<ReplyMemory> {
  const { summary, facts, knowledge } = await findMemoryForReply(db, of);
  return { summary, facts: readList(facts), knowledge: readList(knowledge) };
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
  const row = await findThreadMemory(db, { threadId });
  return row === undefined ? undefined : { ...row, facts: readList(row.facts) };
}

/** Locks the thread; undefined when it is gone or somebody else changed its memory since `version` was read. */
export async function lockThreadMemory(tx: Tx, threadId: number, version: number): Promise<{ turns: number } | undefined> {
  const row = await lockThread(tx, { threadId });
  return row?.version === version ? { turns: row.turns } : undefined;
}

/** Under {@link lockThreadMemory}. @returns how many new sentences the agent got to know */
export async function saveThreadMemory(
  tx: Tx,
  { id: threadId, agentId }: { id: number; agentId: number },
  { summary, facts, knowledge, upToTurn }: { summary: string; facts: readonly string[]; knowledge: readonly string[]; upToTurn: number },
): Promise<number> {
  const rows = await replaceThreadMemory(tx, { threadId, summary, upToTurn, facts, knowledge });
  const added = rows.filter(({ kind }) => kind === 'knowledge').length;
  if (added > 0) {
    await trimKnowledge(tx, { agentId, threadId, perThread: maxKnowledgePerThread, perAgent: maxKnowledgePerAgent });
    await raiseAgentMemoryVersion(tx, { agentId });
  }
  return added;
}

/** Notes newest first; undefined when the agent is gone. */
export async function readAgentMemory(db: Queryable, agentId: number): Promise<{ version: number; notes: string[] } | undefined> {
  const row = await findAgentMemory(db, { agentId });
  return row === undefined ? undefined : { version: row.version, notes: readList(row.notes) };
}

function readList(json: string): string[] {
  return JSON.parse(json) as string[];
}
