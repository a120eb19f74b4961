/** Threads, turns and takeovers, for other features. */
import type { Tx } from '#libs/orm';
import { addTurns, deleteThread, lockThreads, moveMessages, moveTakeovers, negateTurns, renameThread, restoreTurns } from './statements.ts';
export { type Admit, visitorKey } from './rate-limit.ts';
export type { ChatRuntime } from './runtime.ts';
export { findTakeover, findTakeoverByKey, findTurn, lockThread } from './statements.ts';
export { TurnFailure } from './turn-queue.ts';

export type Rekeyed =
  /** The thread has the new key; a running turn continues. */
  | 'renamed'
  /** Both keys had a thread: the old turns precede the new ones, and the memory is rebuilt with the next turn. */
  | 'merged'
  /** No thread has the old key. */
  | 'none';

/** Moves a thread to another key, e.g. when a group becomes a supergroup (D32). Idempotent. */
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
