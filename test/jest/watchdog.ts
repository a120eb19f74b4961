/**
 * Ends a process whose test hangs where no timer of the test framework runs: in a loop, in a blocking call, while a file is loaded. A thread of its own
 * measures the time.
 */
import { Worker } from 'node:worker_threads';

export interface Watched {
  /** Named when it hangs. */
  readonly what: string;
  readonly limitMs: number;
}

let thread: Worker | undefined;

/** Replaces what was watched before; undefined watches nothing. */
export function watch(watched: Watched | undefined): void {
  if (thread === undefined) {
    thread = new Worker(new URL('watchdog-thread.ts', import.meta.url), { execArgv: [] });
    thread.unref();
  }
  thread.postMessage(watched);
}
