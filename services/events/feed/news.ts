import { unavailable } from '#libs/errors';

/** More are refused: whoever waits holds a place of the operations of this process, which others need too. */
const mostWaiting = 1_000;
/** Of those who wait so many look at the same time: everybody wakes when the feed grows, and others need the database too. */
const mostLooking = 4;

/** Those who wait for the feed to grow: told by the writer of any replica, and looking by themselves now and then, should a word be lost (V3). */
export class FeedNews {
  #count = 0;
  #closed = false;
  #looking = 0;
  #held = 0;
  readonly #queue: (() => void)[] = [];
  readonly #waiting = new Set<() => void>();

  /** How often it grew, for `grown`. */
  get count(): number {
    return this.#count;
  }

  /** The feed has grown. */
  tell(): void {
    this.#count++;
    this.#wakeAll();
  }

  /** Nobody waits any more: the process stops. */
  close(): void {
    this.#closed = true;
    this.#wakeAll();
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Resolves when the feed has grown since `count`, at the latest after `timeoutMs`. */
  grown(count: number, timeoutMs: number): Promise<void> {
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

  /** For as long as somebody waits. @throws AppError unavailable when too many do */
  async hold<T>(wait: () => Promise<T>): Promise<T> {
    if (this.#held >= mostWaiting) throw unavailable('Too many requests wait');
    this.#held++;
    try {
      return await wait();
    } finally {
      this.#held--;
    }
  }

  /** A look of one that waits, in turn with the others. */
  async look<T>(find: () => Promise<T>): Promise<T> {
    if (this.#looking >= mostLooking) await new Promise<void>((resolve) => this.#queue.push(resolve));
    else this.#looking++;
    try {
      return await find();
    } finally {
      const next = this.#queue.shift();
      if (next === undefined) this.#looking--;
      else next();
    }
  }

  #wakeAll(): void {
    for (const wake of this.#waiting) wake();
  }
}
