/** Work in the background that gives way to imports: what they bring is made searchable while they keep their speed (T3). */
import { setTimeout as sleep } from 'node:timers/promises';

/** While an import is under way, it rests so many times as long as it has worked. */
const restShare = 4;
const longestRestMs = 10_000;
/** Between two transactions of an import, no rows are written for a moment. */
const quietMs = 2_000;

/** Called after each piece of work with the time that it took. */
export type Pace = (workedMs: number, signal: AbortSignal) => Promise<void>;

export interface PaceOptions {
  /** Whether rows are written at this moment, in whatever process. */
  readonly seeWriters: () => Promise<boolean>;
  readonly now?: () => number;
  readonly rest?: (ms: number, signal: AbortSignal) => Promise<void>;
}

export function createPace({
  seeWriters,
  now = () => performance.now(),
  rest = (ms, signal) => sleep(ms, undefined, { signal }),
}: PaceOptions): Pace {
  let seenAt = -Infinity;
  return async (workedMs, signal) => {
    if (await seeWriters()) seenAt = now();
    if (now() - seenAt <= quietMs) await rest(Math.min(longestRestMs, workedMs * restShare), signal);
  };
}
