/** Starts a process again whenever it ends by itself. */
import { setTimeout as sleep } from 'node:timers/promises';

/** A running process, as far as it matters here. */
interface Running {
  readonly name: string;
  /** Resolves with a description when it ends. */
  readonly ended: Promise<string>;
  stop(): Promise<void>;
}

export interface RestartedProcess {
  /** Stops it for good. */
  stop(): Promise<void>;
}

const firstDelayMs = 500;
const longestDelayMs = 15_000;
/** After this time a process counts as sound, and its next end as the first. */
const soundAfterMs = 60_000;

/** @throws what the first start throws; later ones are tried again for ever, ever more slowly. */
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
        if (!stopping.signal.aborted) options.log(`${current.name} could not be started again: ${(error as Error).message}`);
      }
    }
  };

  const watch = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const end = await current.ended;
      if (stopping.signal.aborted) return;
      if (Date.now() - startedAt > soundAfterMs) delayMs = firstDelayMs;
      options.log(`${current.name} ${end}; starting it again`);
      await startAgain();
      if (stopping.signal.aborted) await current.stop();
      else options.log(`${current.name} runs again`);
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
