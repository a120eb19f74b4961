/**
 * Polls for due work: at regular intervals, immediately when woken, and a last time when stopped. After a failure a
 * wake-up does not shorten the interval. Of consecutive failures only the first is logged.
 */
import type { Logger } from '#libs/infrastructure/logger';

export interface PollRun {
  /** True when `wake` was called since the previous poll. */
  readonly woken: boolean;
  /** True for the last poll before the poller stops. */
  readonly last: boolean;
}

export interface PollerOptions {
  readonly poll: (poll: PollRun) => Promise<void>;
  /** Time from the end of a poll to the next one, unless the poller is woken. */
  readonly intervalMs: number;
  readonly logger: Logger;
  /** Log messages of the first failure and of the recovery. */
  readonly texts: { readonly failure: string; readonly recovery: string };
  /** Returns the log fields of an error. */
  readonly describeError?: (error: unknown) => object;
}

export class Poller {
  readonly #options: PollerOptions;
  #running: Promise<void> | undefined;
  #woken = false;
  #stopped = false;
  #failing = false;
  #endWait: (() => void) | undefined;
  #wakeTimer: { readonly atMs: number; readonly timer: NodeJS.Timeout } | undefined;

  constructor(options: PollerOptions) {
    this.#options = options;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Polls now. */
  wake(): void {
    this.#woken = true;
    if (!this.#failing) this.#endWait?.();
  }

  /** Polls within `delayMs`, if the regular poll is later. */
  wakeIn(delayMs: number): void {
    if (this.#stopped || delayMs >= this.#options.intervalMs) return;
    const atMs = performance.now() + delayMs + 1;
    if (this.#wakeTimer !== undefined && this.#wakeTimer.atMs <= atMs) return;
    clearTimeout(this.#wakeTimer?.timer);
    const ring = (): void => {
      this.#wakeTimer = undefined;
      this.wake();
    };
    this.#wakeTimer = { atMs, timer: setTimeout(ring, Math.ceil(delayMs) + 1) };
  }

  /** Stops after the last poll. Never rejects. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#wakeTimer?.timer);
    this.#endWait?.();
    await this.#running;
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    for (;;) {
      const poll: PollRun = { woken: this.#woken, last: this.#stopped };
      this.#woken = false;
      await this.#poll(poll);
      if (poll.last) return;
      await this.#wait();
    }
  }

  async #poll(poll: PollRun): Promise<void> {
    const { logger, texts, describeError: describe = (error: unknown) => ({ err: error }) } = this.#options;
    try {
      await this.#options.poll(poll);
      if (this.#failing) logger.info(texts.recovery);
      this.#failing = false;
    } catch (error) {
      if (!this.#failing) logger.warn(describe(error), texts.failure);
      this.#failing = true;
    }
  }

  #wait(): Promise<void> {
    if (this.#stopped || (this.#woken && !this.#failing)) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.#endWait = undefined;
        resolve();
      };
      const timer = setTimeout(done, this.#options.intervalMs);
      this.#endWait = done;
    });
  }
}
