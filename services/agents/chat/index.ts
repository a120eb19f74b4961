/** Access to threads, turns, takeovers and rate limits (D71) for other features. */
import { AppError } from '#libs/infrastructure/errors';
import type { Database, Tx } from '#libs/infrastructure/orm';
import type { Metrics } from '#libs/infrastructure/telemetry';
import {
  addTurns,
  admitMessage,
  deleteThread,
  lockThreads,
  moveMessages,
  moveTakeovers,
  negateTurns,
  renameThread,
  restoreTurns,
} from './statements.ts';

export type { ChatRuntime } from './runtime.ts';
export { findTakeover, findTakeoverByKey, findTurn, lockThread } from './statements.ts';
export { TurnFailure } from './turn-queue.ts';

type Rekeyed =
  /** The thread has the new key. A running turn continues. */
  | 'renamed'
  /**
   * Both keys had a thread. The old thread's turns precede the new thread's turns, and the next turn rebuilds the
   * memory.
   */
  | 'merged'
  /** No thread has the old key. */
  | 'none';

/** Moves a thread to another key, e.g. when a group becomes a supergroup (D32). A repeated call has no effect. */
export async function rekeyThread(tx: Tx, agentId: number, from: string, to: string): Promise<Rekeyed> {
  if (from === to) return 'none';
  const threads = await lockThreads(tx, { agentId, from, to });
  const old = threads.find(({ key }) => key === from);
  const current = threads.find(({ key }) => key === to);
  if (old === undefined) return 'none';
  if (current === undefined) {
    await renameThread(tx, { id: old.id, key: to });
    return 'renamed';
  }
  await negateTurns(tx, { threadId: current.id, turns: old.turns });
  await restoreTurns(tx, { threadId: current.id });
  await moveMessages(tx, { from: old.id, to: current.id });
  await moveTakeovers(tx, { from: old.id, to: current.id });
  await addTurns(tx, { id: current.id, oldId: old.id, turns: old.turns });
  await deleteThread(tx, { id: old.id });
  return 'merged';
}

const limits = ['visitor', 'address'] as const;
type ChatLimit = (typeof limits)[number];

/** Maximum messages per minute: one limit per visitor and address, one per address. 0 = unlimited. */
type RequestsPerMinute = Readonly<Record<ChatLimit, number>>;

/** Counts a message against a limit. @throws AppError rate_limited */
export type Admit = (limit: ChatLimit, key: string) => Promise<void>;

export function createAdmit({
  db,
  metrics,
  perMinute,
}: {
  db: Database;
  metrics: Metrics;
  perMinute: RequestsPerMinute;
}): Admit {
  const refusals = metrics.counter('chat_refused_total', 'Chat messages rejected by a rate limit', { limit: limits });
  return async (limit, key) => {
    if (perMinute[limit] === 0) return;
    const { admitted, retryAfter } = await admitMessage(db, { key, limit: perMinute[limit] });
    if (admitted) return;
    refusals.inc({ limit });
    throw new AppError({
      code: 'rate_limited',
      message: 'Too many messages. Try again later.',
      details: { retry_after: retryAfter },
    });
  };
}

/**
 * Returns the key of the limit per visitor. Messages without a known visitor share a key per address, so that omitting
 * the id does not avoid the limit.
 */
export function visitorKey(agentId: number, visitorId: string, ip: string): string {
  return `${agentId}:${visitorId}:${ip}`;
}
