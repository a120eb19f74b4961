/**
 * Notifies requests and running turns on all replicas of takeovers and operator messages (H2). A lost event only delays
 * their reaction.
 */
import type { Bus } from '#libs/infrastructure/nats';
import { agents } from './contract.ts';

export class ThreadChangeNotifier {
  readonly #bus: Pick<Bus, 'publish' | 'connected'>;
  readonly #listeners = new Map<number, Set<() => void>>();
  #isStopping = false;

  constructor(bus: Pick<Bus, 'publish' | 'connected'>) {
    this.#bus = bus;
  }

  /** Notifies all replicas. Without a broker, notifies only this replica. */
  publish(threadId: number): void {
    this.notifyLocal(threadId);
    if (this.#bus.connected) this.#bus.publish(agents.events.threadChanged, { thread_id: threadId });
  }

  notifyLocal(threadId: number): void {
    for (const listener of this.#listeners.get(threadId) ?? []) listener();
  }

  /** Ends all waits and prevents new ones. */
  stop(): void {
    this.#isStopping = true;
    for (const threadId of this.#listeners.keys()) this.notifyLocal(threadId);
  }

  /** Calls `onChange` after each change until the returned function is called. */
  watch(threadId: number, onChange: () => void): () => void {
    const listeners = this.#listeners.get(threadId) ?? new Set();
    this.#listeners.set(threadId, listeners.add(onChange));
    return () => {
      listeners.delete(onChange);
      if (listeners.size === 0 && this.#listeners.get(threadId) === listeners) this.#listeners.delete(threadId);
    };
  }

  /**
   * Runs the query and returns a complete result at once. Otherwise waits for a change or `ms`, then runs the query
   * again and returns its result.
   */
  async waitFor<Found>(
    threadId: number,
    ms: number,
    query: () => Promise<Found>,
    isComplete: (found: Found) => boolean,
  ): Promise<Found> {
    const changed = Promise.withResolvers<void>();
    const unwatch = this.watch(threadId, changed.resolve);
    let timer: NodeJS.Timeout | undefined;
    try {
      const found = await query();
      if (ms <= 0 || this.#isStopping || isComplete(found)) return found;
      timer = setTimeout(changed.resolve, ms);
      await changed.promise;
      return await query();
    } finally {
      clearTimeout(timer);
      unwatch();
    }
  }
}
