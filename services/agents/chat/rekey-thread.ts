/** A group that becomes a supergroup gets a new chat id, and its thread the new key (D32). */
import type { Tx } from '#libs/orm';
import {
  deleteThread,
  addTurns,
  lockThreads,
  negateTurns,
  moveMessages,
  moveTakeovers,
  restoreTurns,
  renameThread,
} from './statements/rekey-thread.ts';

export type Rekeyed =
  /** The thread has the new key; a turn under way goes on in it. */
  | 'renamed'
  /** Both keys had a thread: the old turns come before the new ones, and what is remembered is made anew with the next turn. */
  | 'merged'
  /** Nothing has the old key. */
  | 'none';

/** Gives the thread `from` the key `to`; done twice it is done once. */
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
