import { unavailable } from '#libs/infrastructure/errors';

/**
 * Maximum number of waiting requests of this process. Each request occupies an operation slot, which other requests
 * need too; further waiting requests are rejected.
 */
const maxWaiting = 1_000;
/**
 * Maximum number of concurrent page reads of waiting requests. All waiting requests wake when the feed grows, and other
 * operations need the database too.
 */
const maxReads = 4;

/**
 * Wakes requests that wait for the feed to grow. The feed writer of any replica notifies it; waiting requests also
 * poll, because a message can be lost (V3).
 */
export class FeedChangeNotifier {
  #count = 0;
  #closed = false;
  #reading = 0;
  #waitingRequests = 0;
  readonly #queue: (() => void)[] = [];
  readonly #waiting = new Set<() => void>();

  /** Number of changes so far, for `waitForChange`. */
  get count(): number {
    return this.#count;
  }

  /** Records that the feed has grown and wakes waiting requests. */
  notify(): void {
    this.#count++;
    this.#wakeAll();
  }

  /** Ends all waits, because the process stops. */
  close(): void {
    this.#closed = true;
    this.#wakeAll();
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Resolves when the feed has grown since `count`, or after `timeoutMs`. */
  waitForChange(count: number, timeoutMs: number): Promise<void> {
    if (this.#closed || this.#count !== count) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(done);
        resolve();
      };
      const timer = setTimeout(done, timeoutMs);
      this.#waiting.add(done);
    });
  }

  /** Runs `wait` as a waiting request. @throws AppError unavailable when too many requests wait */
  async limitWaiting<T>(wait: () => Promise<T>): Promise<T> {
    if (this.#waitingRequests >= maxWaiting) throw unavailable('Too many requests are waiting for events');
    this.#waitingRequests++;
    try {
      return await wait();
    } finally {
      this.#waitingRequests--;
    }
  }

  /** Runs a page read of a waiting request. At most four reads run at once, in the order of the calls. */
  async limitReads<T>(read: () => Promise<T>): Promise<T> {
    if (this.#reading >= maxReads) await new Promise<void>((resolve) => this.#queue.push(resolve));
    else this.#reading++;
    try {
      return await read();
    } finally {
      const next = this.#queue.shift();
      if (next === undefined) this.#reading--;
      else next();
    }
  }

  #wakeAll(): void {
    for (const wake of this.#waiting) wake();
  }
}
