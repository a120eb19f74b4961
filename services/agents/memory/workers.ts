/**
 * Jobs `agents.thread-memory` and `agents.agent-memory`: what is remembered of a conversation, and what an agent knows from all of them
 * (rules/agents#memory: each message feeds agent memory). They run after the reply and never hold it up. A job reads what is stored, asks the model
 * outside any transaction, and writes only when nobody changed the memory meanwhile: done twice, it is done once, and what was forgotten
 * in between stays forgotten. No message of an error, log line, payload or result holds what was said.
 */
import type { PayloadOf } from '#libs/contract';
import { AppError } from '#libs/errors';
import { type JobHandler, type JobRun, type Jobs, RetryLater } from '#libs/jobs';
import type { Database, Tx } from '#libs/orm';
import type { KnowledgeMode } from '../config.ts';
import { agents } from '../contract.ts';
import { UnusableReply } from '../json-reply.ts';
import { BudgetExceeded, type MeasuredModel, type ModelRequest } from '../language-model/index.ts';
import {
  buildAgentMemoryPrompt,
  buildThreadMemoryPrompt,
  filterPersonal,
  canShareKnowledge,
  maxTurnsPerJob,
  readAgentReply,
  readThreadReply,
  selectTurns,
} from './rules.ts';
import { listTurnsToRemember, saveAgentSummary } from './statements.ts';
import { lockThreadMemory, readAgentMemory, readThreadMemory, saveThreadMemory } from './stored-memory.ts';
import { ModelFailure } from '#libs/openai';

type Enqueue = Pick<Jobs, 'enqueue'>;

export interface MemoryDependencies {
  readonly db: Database;
  readonly jobs: Enqueue;
  /** Undefined while no language model is configured: memory waits. */
  readonly model: MeasuredModel | undefined;
  /** Estimated tokens of what one job lets the model read. */
  readonly promptTokens: number;
  readonly delayMs: number;
  readonly knowledge: KnowledgeMode;
  readonly renewAgentMemory: EnqueueAgentMemory;
}

/** Has the summary of what an agent knows made anew after the transaction. */
export type EnqueueAgentMemory = (tx: Tx, agentId: number) => Promise<void>;

const notConfiguredDelayMs = 900_000;
/** The summary of an agent follows many threads, so it is made less often. */
const agentDelayFactor = 6;

/** Has the thread remembered after the transaction; one waiting job does for all turns recorded until it runs. */
export async function enqueueThreadMemory(tx: Tx, jobs: Enqueue, threadId: number, delayMs: number): Promise<void> {
  await jobs.enqueue(tx, agents.jobs.threadMemory, { thread_id: threadId }, { key: `thread:${threadId}`, delayMs });
}

/** Only where sentences are shared as they come is there a summary of them (D70). */
export function createEnqueueAgentMemory(jobs: Enqueue, mode: KnowledgeMode, delayMs: number): EnqueueAgentMemory {
  return async (tx, agentId) => {
    if (mode !== 'automatic') return;
    const options = { key: `agent:${agentId}`, delayMs: delayMs * agentDelayFactor };
    await jobs.enqueue(tx, agents.jobs.agentMemory, { agent_id: agentId }, options);
  };
}

export function createThreadMemoryJob(deps: MemoryDependencies): JobHandler<PayloadOf<typeof agents.jobs.threadMemory>> {
  return async (run) => {
    const id = run.payload.thread_id;
    const before = await readThreadMemory(deps.db, id);
    if (before === undefined) return { outcome: 'thread_gone' };
    const waiting = await listTurnsToRemember(deps.db, { threadId: id, afterTurn: before.upToTurn, limit: maxTurnsPerJob });
    const turns = selectTurns(waiting, deps.promptTokens);
    const upToTurn = turns.at(-1)?.turn;
    if (upToTurn === undefined) return { outcome: 'nothing_new' };
    const withKnowledge = deps.knowledge !== 'off' && canShareKnowledge(turns);
    const messages = buildThreadMemoryPrompt(before, turns, withKnowledge);
    const reply = await callModel(deps, run, { agentId: before.agentId, messages }, readThreadReply);
    const knowledge = filterPersonal(withKnowledge ? reply.knowledge : [], {
      facts: [...before.facts, ...reply.facts],
      said: turns.map(({ humanBody }) => humanBody),
      agentText: before.agentText,
    });
    await run.complete(async (tx) => {
      const thread = await lockThreadMemory(tx, id, before.version);
      if (thread === undefined) return { outcome: 'overtaken' };
      const added = await saveThreadMemory(tx, { id, agentId: before.agentId }, { ...reply, knowledge, upToTurn });
      if (added > 0) await deps.renewAgentMemory(tx, before.agentId);
      if (thread.turns > upToTurn) await enqueueThreadMemory(tx, deps.jobs, id, 0);
      return { outcome: 'remembered', turns: turns.length };
    });
    return undefined;
  };
}

export function createAgentMemoryJob(deps: MemoryDependencies): JobHandler<PayloadOf<typeof agents.jobs.agentMemory>> {
  return async (run) => {
    const agentId = run.payload.agent_id;
    if (deps.knowledge !== 'automatic') return { outcome: 'not_shared' };
    const before = await readAgentMemory(deps.db, agentId);
    if (before === undefined) return { outcome: 'agent_gone' };
    const messages = buildAgentMemoryPrompt(before.notes, deps.promptTokens);
    const summary = before.notes.length === 0 ? '' : await callModel(deps, run, { agentId, messages }, readAgentReply);
    await run.complete(async (tx) => {
      const saved = await saveAgentSummary(tx, { agentId, version: before.version, summary });
      return { outcome: saved !== undefined ? 'remembered' : 'overtaken' };
    });
    return undefined;
  };
}

/** Statuses of a server that is there, and takes what it is asked for too long or not allowed: it says so again to every repetition. */
const permanentStatuses = new Set<number | undefined>([400, 413, 422]);

/** A model that is away is waited for, one that refuses or whose reply does not fit is asked again until the attempts are used up. */
async function callModel<T>(
  deps: MemoryDependencies,
  run: JobRun<unknown>,
  call: Pick<ModelRequest, 'agentId' | 'messages'>,
  read: (text: string) => T,
): Promise<T> {
  if (deps.model === undefined) throw new RetryLater('No language model is configured', { delayMs: notConfiguredDelayMs });
  try {
    const answer = await deps.model.ask({ ...call, purpose: 'memory', signal: run.signal });
    return read(answer.text);
  } catch (error) {
    if (error instanceof BudgetExceeded) throw new RetryLater(error.message, { delayMs: error.retryAfter * 1_000 });
    if (error instanceof UnusableReply) throw new AppError({ code: 'internal', message: error.message }, { cause: error });
    if (!(error instanceof ModelFailure)) throw error;
    if (error.kind === 'cancelled') throw run.signal.reason;
    const away =
      error.kind === 'timeout' || error.kind === 'connection' || (error.kind === 'status' && !permanentStatuses.has(error.status));
    const message = `The model gave no usable answer: ${error.kind}${error.status === undefined ? '' : ` ${error.status}`}`;
    if (!away) throw new AppError({ code: 'unavailable', message }, { cause: error });
    throw new RetryLater(message, error.retryAfter === undefined ? {} : { delayMs: error.retryAfter * 1_000 });
  }
}
