/**
 * Looks for work that is due: now and then, at once when somebody calls, and a last time before the stop. While looking fails nobody can hurry
 * it; of failures in a row the log has the first one.
 */
import type { Logger } from '#libs/logger';

export interface Look {
  /** Somebody called since the look before. */
  readonly woken: boolean;
  /** The stop waits for it. */
  readonly last: boolean;
}

export interface PollerOptions {
  readonly look: (look: Look) => Promise<void>;
  /** From the end of a look to the next one that nobody calls for. */
  readonly intervalMs: number;
  readonly logger: Logger;
  /** What the log says of a failure, and of the look that succeeds again. */
  readonly texts: { readonly failure: string; readonly recovery: string };
  /** What the log has of an error. */
  readonly describe?: (error: unknown) => object;
}

export class Poller {
  readonly #options: PollerOptions;
  #running: Promise<void> | undefined;
  #woken = false;
  #stopped = false;
  #failing = false;
  #endPause: (() => void) | undefined;
  #alarm: { readonly atMs: number; readonly timer: NodeJS.Timeout } | undefined;

  constructor(options: PollerOptions) {
    this.#options = options;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** There may be work. */
  wake(): void {
    this.#woken = true;
    if (!this.#failing) this.#endPause?.();
  }

  /** There may be work in `delayMs`. */
  wakeIn(delayMs: number): void {
    if (this.#stopped || delayMs >= this.#options.intervalMs) return;
    const atMs = performance.now() + delayMs + 1;
    if (this.#alarm !== undefined && this.#alarm.atMs <= atMs) return;
    clearTimeout(this.#alarm?.timer);
    const ring = (): void => {
      this.#alarm = undefined;
      this.wake();
    };
    this.#alarm = { atMs, timer: setTimeout(ring, Math.ceil(delayMs) + 1) };
  }

  /** Ends after the last look. Never rejects. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#alarm?.timer);
    this.#endPause?.();
    await this.#running;
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    for (;;) {
      const look: Look = { woken: this.#woken, last: this.#stopped };
      this.#woken = false;
      await this.#look(look);
      if (look.last) return;
      await this.#pause();
    }
  }

  async #look(look: Look): Promise<void> {
    const { logger, texts, describe = (error: unknown) => ({ err: error }) } = this.#options;
    try {
      await this.#options.look(look);
      if (this.#failing) logger.info(texts.recovery);
      this.#failing = false;
    } catch (error) {
      if (!this.#failing) logger.warn(describe(error), texts.failure);
      this.#failing = true;
    }
  }

  #pause(): Promise<void> {
    if (this.#stopped || (this.#woken && !this.#failing)) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.#endPause = undefined;
        resolve();
      };
      const timer = setTimeout(done, this.#options.intervalMs);
      this.#endPause = done;
    });
  }
}
