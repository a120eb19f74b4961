/**
 * Runs one turn from a message to the recorded reply, for visitors and messaging channels (rules/agents#visitor-chat,
 * rules/agents#messaging-webhook; D32 to D33a). Once the model has replied, one transaction stores both messages and
 * the caller's rows. During a takeover the model is not called and only the visitor's message is recorded (H1, H2).
 */
import type { Logger } from '#libs/infrastructure/logger';
import { ModelFailure, type TextListener } from '#libs/infrastructure/openai';
import { constraintOf, type Database, type Tx } from '#libs/infrastructure/orm';
import type { Queryable } from '#libs/infrastructure/sql';
import type { Agent } from '../agent/index.ts';
import { buildPrompt, createVisitorId, isVisitorId, maxHistoryTurns } from './rules.ts';
import {
  createThread,
  ensureThread,
  findTakeover,
  findTurn,
  findVisitorThread,
  listLatestTurns,
  lockThread,
  recordTurn,
  type StoredTurn,
  type ThreadKey,
  turnKeyConstraint,
} from './statements.ts';
import { TurnFailure, type TurnLease, type TurnQueue } from './turn-queue.ts';
import type { KnowledgeMode } from '../config.ts';
import { BudgetExceeded, type MeasuredModel } from '../language-model/index.ts';
import { readMemory } from '../memory/index.ts';
import type { MessagingHtml } from '../messaging-html.ts';
import { cleanAgentMessage } from '../model-text.ts';

export interface ChatDependencies {
  readonly db: Database;
  readonly queue: TurnQueue;
  readonly model: MeasuredModel;
  readonly html: MessagingHtml;
  /** Maximum prompt size in estimated tokens. */
  readonly promptTokens: number;
  /** Which notes from other threads a reply can use (D70). */
  readonly knowledge: KnowledgeMode;
  /** Enqueues the memory job in the transaction that records the turn. */
  readonly enqueueMemory: (tx: Tx, threadId: number) => Promise<void>;
  /**
   * Watches for takeovers while the model runs. Without this function, a takeover is detected when the turn is
   * recorded.
   */
  readonly watchThread?: WatchThread;
}

/** Thread of a visitor. `opening` is `new` until the first turn is recorded. */
export interface VisitorThread {
  readonly kind: 'new' | 'known';
  readonly visitorId: string;
}

export interface TurnRequest {
  readonly agent: Agent;
  readonly thread: ThreadKey;
  /**
   * `new`: the key is unguessable, and the first turn creates the thread. `existing`: a deleted thread is not created
   * again. `any`: the thread is found or created, possibly concurrently.
   */
  readonly opening: 'new' | 'existing' | 'any';
  /** Text of the message: Markdown as received. */
  readonly body: string;
  /**
   * Author of the message in threads with several people, e.g. `telegram:user:<id>`. Erasure finds messages by this
   * field.
   */
  readonly sender?: string | undefined;
  /** Unique per agent, e.g. `telegram:<update_id>` or `web:<digest>`. A repeated request returns the recorded turn. */
  readonly idempotencyKey?: string | undefined;
  /** Time in epoch milliseconds after which the caller no longer waits and nothing is recorded. */
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
  readonly logger: Logger;
  /** Called with the reply while the model writes. Not called for a repeated turn. */
  readonly listener?: TextListener | undefined;
  /** Called when an operator takes over the thread while the model writes. The reply is discarded (H1). */
  readonly onTakenOver?: (() => void) | undefined;
  /**
   * Writes rows of the caller in the transaction that records the turn. An error rolls the turn back. Not called for a
   * repeated turn. Can run more than once, so it must have no other effects.
   */
  readonly inTransaction?: ((tx: Tx, turn: StoredTurn) => Promise<void>) | undefined;
}

export interface RecordedTurn extends StoredTurn {
  /** Whether the turn was recorded earlier under the same idempotency key. */
  readonly repeated: boolean;
}

export interface ChatRuntime {
  /**
   * Returns the visitor's thread with this agent. An id that is unknown, malformed or of another agent creates a new
   * thread (D33a).
   */
  findThread(agent: Agent, visitorId: string | null | undefined): Promise<VisitorThread>;
  /**
   * Waits until the thread is free, calls the model and records both messages. Turns of a thread run one at a time in
   * the order of the calls.
   * @throws TurnFailure nothing was recorded
   */
  runTurn(request: TurnRequest): Promise<RecordedTurn>;
}

/** Time reserved for recording and for sending the reply. */
const recordMarginMs = 500;
/** Maximum attempts to open a thread while other requests delete it. */
const maxOpenAttempts = 5;

export function createChatRuntime(deps: ChatDependencies): ChatRuntime {
  const { db, queue, model, html } = deps;

  async function generateReply(
    request: TurnRequest,
    threadId: number | undefined,
    signal: AbortSignal,
  ): Promise<string> {
    const { agent, body, logger, listener } = request;
    const [recalled, latest] = await Promise.all([
      readMemory(db, { agentId: agent.id, threadId, mode: deps.knowledge }),
      threadId === undefined ? [] : listLatestTurns(db, { threadId, limit: maxHistoryTurns }),
    ]);
    const messages = buildPrompt(agent.prompt, recalled, latest, body, deps.promptTokens);
    try {
      return (await model.complete({ agentId: agent.id, purpose: 'chat', messages, signal, listener })).text;
    } catch (error) {
      if (signal.reason instanceof ThreadTakenOver) throw signal.reason;
      if (error instanceof BudgetExceeded) throw new TurnFailure('over_budget', error.message, error);
      if (!(error instanceof ModelFailure)) throw error;
      logger.warn(
        { kind: error.kind, status: error.status, agent: agent.slug },
        'chat: no usable reply of the language model',
      );
      const kind = error.kind === 'cancelled' ? 'out_of_time' : 'no_answer';
      throw new TurnFailure(kind, 'No usable reply of the language model.', error);
    }
  }

  async function answerMessage(
    request: TurnRequest,
    threadId: number | undefined,
    signal: AbortSignal,
    open: (tx: Tx) => Promise<number>,
  ): Promise<RecordedTurn> {
    const { body, sender } = request;
    const text = await runUnlessTakenOver(deps, threadId, (takenOver) => {
      takenOver.addEventListener('abort', () => request.onTakenOver?.());
      return generateReply(request, threadId, AbortSignal.any([signal, takenOver]));
    });
    const human = { humanBody: body, humanHtml: html.render(body) };
    const reply = { agentBody: text, agentHtml: text === null ? null : html.render(text) };
    const turnKey = turnKeyOf(request);
    const stored = await db.transaction(async (tx) => {
      const recordedIn = await open(tx);
      if (threadId !== undefined) await lockThread(tx, { threadId });
      // The model's reply is dropped if an operator has taken over the thread meanwhile.
      const messages = { ...human, ...((await isThreadTakenOver(tx, threadId)) ? noAgentReply : reply) };
      const recorded = await recordTurn(tx, { threadId: recordedIn, ...messages, turnKey, sender });
      if (recorded === undefined) throw new TurnFailure('lost', 'The thread was deleted.');
      const turn = { threadId: recordedIn, ...recorded, ...messages };
      await request.inTransaction?.(tx, turn);
      await deps.enqueueMemory(tx, turn.threadId);
      if (signal.aborted || Date.now() > request.deadlineMs - recordMarginMs)
        throw new TurnFailure('out_of_time', 'The reply came after the deadline.');
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
      const turn =
        threadId === undefined
          ? undefined
          : await queue.run(threadId, request.signal, (lease) => continueThread(request, lease));
      if (turn !== undefined) return turn;
      if (request.opening === 'existing') break;
    }
    throw new TurnFailure('lost', 'The thread was deleted.');
  }

  return {
    findThread: async (agent, visitorId) => {
      if (typeof visitorId === 'string' && isVisitorId(visitorId)) {
        if ((await findVisitorThread(db, { agentId: agent.id, visitorId })) !== undefined)
          return { kind: 'known', visitorId };
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
        // The unique key shows that this turn was recorded in another thread: the chat has a new key.
        const recorded = constraintOf(error) === turnKeyConstraint ? await findRepeated(request) : undefined;
        if (recorded === undefined) throw error;
        return recorded;
      }
    },
  };
}

/** The reply during a takeover. */
const noAgentReply = { agentBody: null, agentHtml: null };

function toRow(agent: Agent, { key, channel, visitorId }: ThreadKey) {
  return { agentId: agent.id, key, channel, visitorId };
}

function turnKeyOf({ agent, idempotencyKey }: TurnRequest): string | undefined {
  return idempotencyKey === undefined ? undefined : `agent:${agent.id}:${idempotencyKey}`;
}

/** An operator has taken over the thread. The running reply is discarded (H1). */
class ThreadTakenOver extends Error {
  override readonly name = 'TakenOver';
}

/**
 * Calls `onChange` after each change of a takeover or operator message on any replica. Returns a function that stops
 * the calls.
 */
type WatchThread = (threadId: number, onChange: () => void) => () => void;

async function isThreadTakenOver(db: Queryable, threadId: number | undefined): Promise<boolean> {
  return threadId !== undefined && (await findTakeover(db, { threadId })) !== undefined;
}

/**
 * Runs `work` unless an operator has taken over the thread. The signal passed to `work` aborts when an operator takes
 * over. A missed change is detected when the turn is recorded.
 * @returns null during a takeover.
 */
async function runUnlessTakenOver<T>(
  { db, watchThread }: { readonly db: Queryable; readonly watchThread?: WatchThread | undefined },
  threadId: number | undefined,
  work: (takenOver: AbortSignal) => Promise<T>,
): Promise<T | null> {
  const takenOver = new AbortController();
  const check = async (): Promise<void> => {
    if (await isThreadTakenOver(db, threadId)) takenOver.abort(new ThreadTakenOver());
  };
  const unwatch =
    threadId === undefined ? undefined : watchThread?.(threadId, () => void check().catch(() => undefined));
  try {
    await check();
    return takenOver.signal.aborted ? null : await work(takenOver.signal);
  } catch (error) {
    if (error instanceof ThreadTakenOver) return null;
    throw error;
  } finally {
    unwatch?.();
  }
}
