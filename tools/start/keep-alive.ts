/** Restarts a process whenever it ends. */
import { setTimeout as sleep } from 'node:timers/promises';

/** A running process. */
interface Running {
  readonly name: string;
  /** Resolves with a description when the process ends. */
  readonly ended: Promise<string>;
  stop(): Promise<void>;
}

export interface RestartedProcess {
  /** Stops the process without a restart. */
  stop(): Promise<void>;
}

const firstDelayMs = 500;
const longestDelayMs = 15_000;
/** When a process has run for this time, its restart delay is reset. */
const soundAfterMs = 60_000;

/**
 * Starts a process and restarts it whenever it ends, with backoff after failures. @throws the error of the first start
 */
export async function keepAlive<P extends Running>(options: {
  start: () => Promise<P>;
  log: (line: string) => void;
}): Promise<RestartedProcess> {
  const stopping = new AbortController();
  let current = await options.start();
  let startedAt = Date.now();
  let delayMs = firstDelayMs;

  const startAgain = async (): Promise<void> => {
    for (;;) {
      await sleep(delayMs, undefined, { signal: stopping.signal });
      delayMs = Math.min(delayMs * 2, longestDelayMs);
      try {
        current = await options.start();
        startedAt = Date.now();
        return;
      } catch (error) {
        if (!stopping.signal.aborted) options.log(`${current.name} failed to restart: ${(error as Error).message}`);
      }
    }
  };

  const watch = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const end = await current.ended;
      if (stopping.signal.aborted) return;
      if (Date.now() - startedAt > soundAfterMs) delayMs = firstDelayMs;
      options.log(`${current.name} ${end}; restarting`);
      await startAgain();
      if (stopping.signal.aborted) await current.stop();
      else options.log(`${current.name} restarted`);
    }
  };
  const watching = watch().catch((error: unknown) => {
    if (!stopping.signal.aborted) throw error;
  });

  return {
    stop: async () => {
      stopping.abort();
      await current.stop();
      await watching;
    },
  };
}
