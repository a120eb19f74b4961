/**
 * Ends a process whose test hangs where the framework's timers do not run: in a loop, in a blocking call, while a file
 * is loaded. A separate thread measures the time.
 */
import { Worker } from 'node:worker_threads';

export interface Watched {
  /** The name that is reported when the watched work hangs. */
  readonly what: string;
  readonly limitMs: number;
}

let thread: Worker | undefined;

/** Starts watching this work instead of the previous one; undefined stops watching. */
export function watch(watched: Watched | undefined): void {
  if (thread === undefined) {
    thread = new Worker(new URL('watchdog-thread.ts', import.meta.url), { execArgv: [] });
    thread.unref();
  }
  thread.postMessage(watched);
}
