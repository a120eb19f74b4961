/** Ends a reply in progress when an operator takes its thread (H1). */
import type { Queryable } from '#libs/sql';
import { findTakeover } from './statements/takeovers.ts';

/** An operator has taken the thread: the reply in progress is discarded. */
export class ThreadTakenOver extends Error {
  override readonly name = 'TakenOver';
}

/** Calls `onChange` whenever the thread is taken, written in or handed back, on any replica, until the returned function is called. */
export type WatchThread = (threadId: number, onChange: () => void) => () => void;

export async function isThreadTakenOver(db: Queryable, threadId: number | undefined): Promise<boolean> {
  return threadId !== undefined && (await findTakeover(db, { threadId })) !== undefined;
}

/**
 * Runs `work` unless a person has the thread. Its signal aborts when an operator takes the thread meanwhile. A missed change is noticed when the turn is
 * recorded.
 * @returns null when a person has the thread.
 */
export async function runUnlessTakenOver<T>(
  { db, watchThread }: { readonly db: Queryable; readonly watchThread?: WatchThread | undefined },
  threadId: number | undefined,
  work: (taken: AbortSignal) => Promise<T>,
): Promise<T | null> {
  const taken = new AbortController();
  const check = async (): Promise<void> => {
    if (await isThreadTakenOver(db, threadId)) taken.abort(new ThreadTakenOver());
  };
  const unwatch = threadId === undefined ? undefined : watchThread?.(threadId, () => void check().catch(() => undefined));
  try {
    await check();
    return taken.signal.aborted ? null : await work(taken.signal);
  } catch (error) {
    if (error instanceof ThreadTakenOver) return null;
    throw error;
  } finally {
    unwatch?.();
  }
}
