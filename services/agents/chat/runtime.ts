/**
 * The chat runtime: one turn from a message to the recorded reply, for web visitors and messaging channels alike
 * (rules/agents#visitor-chat, rules/agents#messaging-webhook; D32 to D33a). Nothing is stored before the model has
 * answered, and then both messages are, in one transaction with whatever the caller adds to it. While a person has the thread the model is not
 * asked: the visitor's message is recorded alone (H1, H2).
 */
import type { Logger } from '#libs/logger';
import { constraintOf, type Database, type Tx } from '#libs/orm';
import type { Agent } from '../agent/index.ts';
import type { KnowledgeMode } from '../config.ts';
import { BudgetExceeded, type MeasuredModel } from '../language-model/index.ts';
import { readMemory } from '../memory/index.ts';
import type { MessagingHtml } from '../messaging-html.ts';
import { cleanAgentMessage } from '../recorded-answer.ts';
import { buildPrompt, maxHistoryTurns } from './rules/prompt.ts';
import { createVisitorId, isVisitorId } from './rules/visitor.ts';
import { lockThread } from './statements/takeovers.ts';
import {
  createThread,
  ensureThread,
  findTurn,
  findVisitorThread,
  listLatestTurns,
  recordTurn,
  type StoredTurn,
  type ThreadKey,
  turnKeyConstraint,
} from './statements/threads.ts';
import { isThreadTakenOver, ThreadTakenOver, runUnlessTakenOver, type WatchThread } from './takeover-watch.ts';
import { TurnFailure } from './turn-failure.ts';
import type { TurnLease, TurnQueue } from './turn-queue.ts';
import { type TextListener, ModelFailure } from '#libs/openai';

export interface ChatDependencies {
  readonly db: Database;
  readonly queue: TurnQueue;
  readonly model: MeasuredModel;
  readonly html: MessagingHtml;
  /** Estimated tokens of a prompt. */
  readonly promptTokens: number;
  /** What of other threads an answer may draw on (D70). */
  readonly knowledge: KnowledgeMode;
  /** Has the thread remembered, in the transaction that records a turn. */
  readonly enqueueMemory: (tx: Tx, threadId: number) => Promise<void>;
  /** Without it a takeover is noticed when the turn is recorded. */
  readonly watchThread?: WatchThread;
}

/** A visitor's thread as found for a message: none yet, or an existing one. */
export interface VisitorThread {
  readonly kind: 'new' | 'known';
  readonly visitorId: string;
}

export interface TurnRequest {
  readonly agent: Agent;
  readonly thread: ThreadKey;
  /**
   * `new`: nobody else can know the key yet, the thread is made with its first turn; `existing`: a deleted thread is not made again;
   * `any`: found or made, several may come at once.
   */
  readonly opening: 'new' | 'existing' | 'any';
  /** Markdown, as the person wrote it. */
  readonly body: string;
  /** Who wrote it where a thread has several writers, e.g. `telegram:user:<id>`; what is forgotten of a person is found by it. */
  readonly sender?: string | undefined;
  /** What the turn answers, unique for the agent, e.g. `telegram:<update_id>` or `web:<digest>`: asked for again, the recorded turn is returned. */
  readonly idempotencyKey?: string | undefined;
  /** Epoch milliseconds; later than this nobody waits for the answer, so nothing may be recorded. */
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
  readonly logger: Logger;
  /** Hears the model's words while it writes; not called for a repeated turn. */
  readonly listener?: TextListener | undefined;
  /** Called when an operator takes the thread while the model writes: what it wrote is discarded (H1). */
  readonly onTakenOver?: (() => void) | undefined;
  /**
   * Writes rows of the caller in the transaction that records the turn: both happen or neither. Not called for a repeated turn. It may
   * run again from the start, so it must have no other effect; what it throws undoes the turn.
   */
  readonly inTransaction?: ((tx: Tx, turn: StoredTurn) => Promise<void>) | undefined;
}

export interface RecordedTurn extends StoredTurn {
  /** The turn was recorded before, under the same idempotency key. */
  readonly repeated: boolean;
}

export interface ChatRuntime {
  /** The thread that a visitor id opens with this agent; unknown, malformed and other agents' ids open a new one (D33a). */
  findThread(agent: Agent, visitorId: string | null | undefined): Promise<VisitorThread>;
  /**
   * Waits for the thread's turn, asks the model, records. One turn at a time in each thread; tickets are served in the order of the calls.
   * @throws TurnFailure: nothing was recorded
   */
  runTurn(request: TurnRequest): Promise<RecordedTurn>;
}

/** Time kept back for recording and for the reply's way to the visitor. */
const recordMarginMs = 500;
/** Tries to get hold of a thread that others delete at the same time. */
const maxOpenAttempts = 5;

export function createChatRuntime(deps: ChatDependencies): ChatRuntime {
  const { db, queue, model, html } = deps;

  async function generateReply(request: TurnRequest, threadId: number | undefined, signal: AbortSignal): Promise<string> {
    const { agent, body, logger, listener } = request;
    const [recalled, latest] = await Promise.all([
      readMemory(db, { agentId: agent.id, threadId, mode: deps.knowledge }),
      threadId === undefined ? [] : listLatestTurns(db, { threadId, limit: maxHistoryTurns }),
    ]);
    const messages = buildPrompt(agent.prompt, recalled, latest, body, deps.promptTokens);
    try {
      return (await model.ask({ agentId: agent.id, purpose: 'chat', messages, signal, listener })).text;
    } catch (error) {
      if (signal.reason instanceof ThreadTakenOver) throw signal.reason;
      if (error instanceof BudgetExceeded) throw new TurnFailure('over_budget', error.message, error);
      if (!(error instanceof ModelFailure)) throw error;
      logger.warn({ kind: error.kind, status: error.status, agent: agent.slug }, 'the model gave no usable answer');
      const kind = error.kind === 'cancelled' ? 'out_of_time' : 'no_answer';
      throw new TurnFailure(kind, 'The model gave no usable answer', error);
    }
  }

  async function answerMessage(
    request: TurnRequest,
    threadId: number | undefined,
    signal: AbortSignal,
    open: (tx: Tx) => Promise<number>,
  ): Promise<RecordedTurn> {
    const { body, sender } = request;
    const text = await runUnlessTakenOver(deps, threadId, (taken) => {
      taken.addEventListener('abort', () => request.onTakenOver?.());
      return generateReply(request, threadId, AbortSignal.any([signal, taken]));
    });
    const human = { humanBody: body, humanHtml: html.render(body) };
    const reply = { agentBody: text, agentHtml: text === null ? null : html.render(text) };
    const turnKey = turnKeyOf(request);
    const stored = await db.transaction(async (tx) => {
      const recordedIn = await open(tx);
      if (threadId !== undefined) await lockThread(tx, { threadId });
      // Somebody has taken the thread while the model wrote: what it wrote was never said.
      const messages = { ...human, ...((await isThreadTakenOver(tx, threadId)) ? noAgentReply : reply) };
      const recorded = await recordTurn(tx, { threadId: recordedIn, ...messages, turnKey, sender });
      if (recorded === undefined) throw new TurnFailure('lost', 'The thread is gone');
      const turn = { threadId: recordedIn, ...recorded, ...messages };
      await request.inTransaction?.(tx, turn);
      await deps.enqueueMemory(tx, turn.threadId);
      if (signal.aborted || Date.now() > request.deadlineMs - recordMarginMs)
        throw new TurnFailure('out_of_time', 'The answer came too late');
      return turn;
    });
    return { ...stored, repeated: false };
  }

  async function findRepeated(request: TurnRequest): Promise<RecordedTurn | undefined> {
    const turnKey = turnKeyOf(request);
    const turn = turnKey === undefined ? undefined : await findTurn(db, { turnKey });
    if (turn === undefined) return undefined;
    const { agentBody, agentHtml } = turn;
    if (agentBody === null || agentHtml === null) return { ...turn, repeated: true };
    const answer = cleanAgentMessage({ body: agentBody, html: agentHtml }, html);
    return { ...turn, agentBody: answer.body, agentHtml: answer.html, repeated: true };
  }

  async function continueThread(request: TurnRequest, turn: TurnLease): Promise<RecordedTurn> {
    return (
      (await findRepeated(request)) ??
      (await answerMessage(request, turn.threadId, turn.signal, async (tx) => {
        await turn.finish(tx);
        return turn.threadId;
      }))
    );
  }

  async function openThread({ agent, thread, opening }: TurnRequest): Promise<number | undefined> {
    if (opening === 'any') return (await ensureThread(db, toRow(agent, thread)))?.id;
    const { visitorId } = thread;
    return visitorId === undefined ? undefined : (await findVisitorThread(db, { agentId: agent.id, visitorId }))?.id;
  }

  async function runQueuedTurn(request: TurnRequest): Promise<RecordedTurn> {
    for (let attempt = 0; attempt < maxOpenAttempts; attempt++) {
      const threadId = await openThread(request);
      const turn = threadId === undefined ? undefined : await queue.run(threadId, request.signal, (held) => continueThread(request, held));
      if (turn !== undefined) return turn;
      if (request.opening === 'existing') break;
    }
    throw new TurnFailure('lost', 'The thread is gone');
  }

  return {
    findThread: async (agent, visitorId) => {
      if (typeof visitorId === 'string' && isVisitorId(visitorId)) {
        if ((await findVisitorThread(db, { agentId: agent.id, visitorId })) !== undefined) return { kind: 'known', visitorId };
      }
      return { kind: 'new', visitorId: createVisitorId() };
    },
    runTurn: async (request) => {
      const repeated = await findRepeated(request);
      if (repeated !== undefined) return repeated;
      try {
        if (request.opening !== 'new') return await runQueuedTurn(request);
        return await answerMessage(
          request,
          undefined,
          request.signal,
          async (tx) => (await createThread(tx, toRow(request.agent, request.thread))).id,
        );
      } catch (error) {
        // The same turn was recorded in another thread meanwhile: its chat has got a new key.
        const recorded = constraintOf(error) === turnKeyConstraint ? await findRepeated(request) : undefined;
        if (recorded === undefined) throw error;
        return recorded;
      }
    },
  };
}

/** What the agent says while a person has the thread. */
const noAgentReply = { agentBody: null, agentHtml: null };

function toRow(agent: Agent, { key, channel, visitorId }: ThreadKey) {
  return { agentId: agent.id, key, channel, visitorId };
}

function turnKeyOf({ agent, idempotencyKey }: TurnRequest): string | undefined {
  return idempotencyKey === undefined ? undefined : `agent:${agent.id}:${idempotencyKey}`;
}
