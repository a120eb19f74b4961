/**
 * Ends a process whose test hangs where the framework's timers do not run: in a loop, in a blocking call, while a file
 * is loaded. A separate thread measures the time.
 */
import { Worker } from 'node:worker_threads';

export interface Watched {
  /** Reported when it hangs. */
  readonly what: string;
  readonly limitMs: number;
}

let thread: Worker | undefined;

/** Replaces the watched item; undefined stops watching. */
export function watch(watched: Watched | undefined): void {
  if (thread === undefined) {
    thread = new Worker(new URL('watchdog-thread.ts', import.meta.url), { execArgv: [] });
    thread.unref();
  }
  thread.postMessage(watched);
}
