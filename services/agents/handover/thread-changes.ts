/** Wakes requests that wait until an operator takes a thread, writes in it or hands it back (H2). All replicas are notified, and a missed event delays an answer only. */
import type { Bus } from '#libs/nats';
import { agents } from '../contract.ts';

export class ThreadChangeNotifier {
  readonly #bus: Pick<Bus, 'publish' | 'connected'>;
  readonly #listeners = new Map<number, Set<() => void>>();
  #isStopping = false;

  constructor(bus: Pick<Bus, 'publish' | 'connected'>) {
    this.#bus = bus;
  }

  /** Notifies all replicas; without a broker those who wait here alone. */
  publish(threadId: number): void {
    this.wake(threadId);
    if (this.#bus.connected) this.#bus.publish(agents.events.threadChanged, { thread_id: threadId });
  }

  /** Wakes the requests of this replica. */
  wake(threadId: number): void {
    for (const notifyLocal of this.#listeners.get(threadId) ?? []) notifyLocal();
  }

  /** Ends all waits; later ones do not begin. */
  stop(): void {
    this.#isStopping = true;
    for (const threadId of this.#listeners.keys()) this.wake(threadId);
  }

  /** Calls `onChange` after each change until the returned function is called. */
  watch(threadId: number, onChange: () => void): () => void {
    const wakers = this.#listeners.get(threadId) ?? new Set();
    this.#listeners.set(threadId, wakers.add(onChange));
    return () => {
      wakers.delete(onChange);
      if (wakers.size === 0 && this.#listeners.get(threadId) === wakers) this.#listeners.delete(threadId);
    };
  }

  /** Looks now, and again after a change or `ms` when `isNews` is false for what was found. */
  async waitFor<Found>(threadId: number, ms: number, look: () => Promise<Found>, isNews: (found: Found) => boolean): Promise<Found> {
    const changed = Promise.withResolvers<void>();
    const unwatch = this.watch(threadId, changed.resolve);
    let timer: NodeJS.Timeout | undefined;
    try {
      const found = await look();
      if (ms <= 0 || this.#isStopping || isNews(found)) return found;
      timer = setTimeout(changed.resolve, ms);
      await changed.promise;
      return await look();
    } finally {
      clearTimeout(timer);
      unwatch();
    }
  }
}
