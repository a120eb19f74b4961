/**
 * Jobs that renew the memory of threads and agents after a reply (rules/agents#memory). They call the model outside a
 * transaction and write only if the version is unchanged, so that repetitions have no effect and erased data does not
 * return. Errors, logs, payloads and results contain no messages.
 */
import type { PayloadOf } from '#libs/infrastructure/contract';
import { AppError } from '#libs/infrastructure/errors';
import { type JobHandler, type JobRun, RetryLater } from '#libs/infrastructure/jobs';
import { ModelFailure } from '#libs/infrastructure/openai';
import type { Tx } from '#libs/infrastructure/orm';
import type { Queryable } from '#libs/infrastructure/sql';
import type { agents } from '../contract.ts';
import type { Dependencies } from '../dependencies.ts';
import { BudgetExceeded, type ModelRequest } from '../language-model/index.ts';
import { enqueueAgentMemory, enqueueThreadMemory, readList } from './index.ts';
import {
  buildAgentMemoryPrompt,
  buildThreadMemoryPrompt,
  canShareKnowledge,
  filterPersonal,
  maxKnowledgePerAgent,
  maxKnowledgePerThread,
  maxTurnsPerJob,
  readAgentReply,
  readThreadReply,
  selectTurns,
} from './rules.ts';
import {
  findAgentMemory,
  findThreadMemory,
  listTurnsToRemember,
  lockThread,
  raiseAgentMemoryVersion,
  replaceThreadMemory,
  saveAgentSummary,
  trimKnowledge,
} from './statements.ts';
import { UnusableReply } from '../model-text.ts';

type MemoryDependencies = Pick<Dependencies, 'config' | 'db' | 'jobs' | 'model'>;

const notConfiguredDelayMs = 900_000;
export function createThreadMemoryJob(
  deps: MemoryDependencies,
): JobHandler<PayloadOf<typeof agents.jobs.threadMemory>> {
  return async (run) => {
    const id = run.payload.thread_id;
    const previous = await readThreadMemory(deps.db, id);
    if (previous === undefined) return { outcome: 'thread_gone' };
    const waiting = await listTurnsToRemember(deps.db, {
      threadId: id,
      afterTurn: previous.upToTurn,
      limit: maxTurnsPerJob,
    });
    const turns = selectTurns(waiting, deps.config.LLM_PROMPT_TOKENS);
    const upToTurn = turns.at(-1)?.turn;
    if (upToTurn === undefined) return { outcome: 'nothing_new' };
    const withKnowledge = deps.config.AGENT_KNOWLEDGE !== 'off' && canShareKnowledge(turns);
    const messages = buildThreadMemoryPrompt(previous, turns, withKnowledge);
    const reply = await callModel(deps, run, { agentId: previous.agentId, messages }, readThreadReply);
    const knowledge = filterPersonal(withKnowledge ? reply.knowledge : [], {
      facts: [...previous.facts, ...reply.facts],
      visitorMessages: turns.map(({ humanBody }) => humanBody),
      agentText: previous.agentText,
    });
    await run.complete(async (tx) => {
      const thread = await lockThreadMemory(tx, id, previous.version);
      if (thread === undefined) return { outcome: 'overtaken' };
      const added = await saveThreadMemory(tx, { id, agentId: previous.agentId }, { ...reply, knowledge, upToTurn });
      if (added > 0) await enqueueAgentMemory(tx, deps, previous.agentId);
      if (thread.turns > upToTurn) await enqueueThreadMemory(tx, deps, id, 0);
      return { outcome: 'remembered', turns: turns.length };
    });
    return undefined;
  };
}

export function createAgentMemoryJob(deps: MemoryDependencies): JobHandler<PayloadOf<typeof agents.jobs.agentMemory>> {
  return async (run) => {
    const agentId = run.payload.agent_id;
    if (deps.config.AGENT_KNOWLEDGE !== 'automatic') return { outcome: 'not_shared' };
    const previous = await readAgentMemory(deps.db, agentId);
    if (previous === undefined) return { outcome: 'agent_gone' };
    const messages = buildAgentMemoryPrompt(previous.notes, deps.config.LLM_PROMPT_TOKENS);
    const summary =
      previous.notes.length === 0 ? '' : await callModel(deps, run, { agentId, messages }, readAgentReply);
    await run.complete(async (tx) => {
      const saved = await saveAgentSummary(tx, { agentId, version: previous.version, summary });
      return { outcome: saved !== undefined ? 'remembered' : 'overtaken' };
    });
    return undefined;
  };
}

/** Statuses with which a server rejects the same request every time. */
const permanentStatuses = new Set<number | undefined>([400, 413, 422]);

/** Calls the model. Waits while the model is unavailable; rejections and unusable replies use up attempts. */
async function callModel<T>(
  deps: MemoryDependencies,
  run: JobRun<unknown>,
  call: Pick<ModelRequest, 'agentId' | 'messages'>,
  read: (text: string) => T,
): Promise<T> {
  if (deps.model === undefined)
    throw new RetryLater('No language model is configured. Set LLM_BASE_URL.', { delayMs: notConfiguredDelayMs });
  try {
    const answer = await deps.model.complete({ ...call, purpose: 'memory', signal: run.signal });
    return read(answer.text);
  } catch (error) {
    if (error instanceof BudgetExceeded) throw new RetryLater(error.message, { delayMs: error.retryAfter * 1_000 });
    if (error instanceof UnusableReply)
      throw new AppError({ code: 'internal', message: error.message }, { cause: error });
    if (!(error instanceof ModelFailure)) throw error;
    if (error.kind === 'cancelled') throw run.signal.reason;
    const isUnavailable =
      error.kind === 'timeout' ||
      error.kind === 'connection' ||
      (error.kind === 'status' && !permanentStatuses.has(error.status));
    const message = `No usable reply of the language model: ${error.kind}${error.status === undefined ? '' : ` ${error.status}`}`;
    if (!isUnavailable) throw new AppError({ code: 'unavailable', message }, { cause: error });
    throw new RetryLater(message, error.retryAfter === undefined ? {} : { delayMs: error.retryAfter * 1_000 });
  }
}

interface ThreadMemoryState {
  readonly agentId: number;
  /** Name and prompt of the agent. */
  readonly agentText: string;
  /** 0 = no memory yet. */
  readonly version: number;
  readonly upToTurn: number;
  readonly summary: string;
  readonly facts: readonly string[];
}

/** Returns the state of a thread's memory. Returns undefined when the thread does not exist. */
async function readThreadMemory(db: Queryable, threadId: number): Promise<ThreadMemoryState | undefined> {
  const row = await findThreadMemory(db, { threadId });
  return row === undefined ? undefined : { ...row, facts: readList(row.facts) };
}

/** Locks the thread. Returns undefined when the thread does not exist or its memory has changed since `version`. */
async function lockThreadMemory(tx: Tx, threadId: number, version: number): Promise<{ turns: number } | undefined> {
  const row = await lockThread(tx, { threadId });
  return row?.version === version ? { turns: row.turns } : undefined;
}

/** Saves the memory of a thread. Requires {@link lockThreadMemory}. Returns the number of new sentences. */
async function saveThreadMemory(
  tx: Tx,
  { id: threadId, agentId }: { id: number; agentId: number },
  {
    summary,
    facts,
    knowledge,
    upToTurn,
  }: { summary: string; facts: readonly string[]; knowledge: readonly string[]; upToTurn: number },
): Promise<number> {
  const rows = await replaceThreadMemory(tx, { threadId, summary, upToTurn, facts, knowledge });
  const added = rows.filter(({ kind }) => kind === 'knowledge').length;
  if (added > 0) {
    await trimKnowledge(tx, { agentId, threadId, perThread: maxKnowledgePerThread, perAgent: maxKnowledgePerAgent });
    await raiseAgentMemoryVersion(tx, { agentId });
  }
  return added;
}

/** Returns the notes of an agent, newest first. Returns undefined when the agent does not exist. */
async function readAgentMemory(
  db: Queryable,
  agentId: number,
): Promise<{ version: number; notes: string[] } | undefined> {
  const row = await findAgentMemory(db, { agentId });
  return row === undefined ? undefined : { version: row.version, notes: readList(row.notes) };
}
