/**
 * Detection of slow transfers (D62). A client that transfers a byte now and then occupies memory and a connection
 * indefinitely; a limit on the total time would abort long transfers over slow lines. So the rate is checked over a
 * sliding window.
 */

/** The minimum rate of a transfer. */
export interface PaceRule {
  /** Milliseconds at the start in which any rate is allowed. */
  readonly graceMs: number;
  readonly windowMs: number;
  readonly bytesPerSecond: number;
}

/** Minimum rate of request bodies. */
export const bodyPace: PaceRule = { graceMs: 5_000, windowMs: 10_000, bytesPerSecond: 1_024 };
/**
 * For responses. The kernel reports sent bytes in steps of up to a megabyte, so the rate is only meaningful over a
 * longer window.
 */
export const answerPace: PaceRule = { graceMs: 60_000, windowMs: 120_000, bytesPerSecond: 1_024 };

/** Tracks the rate of one transfer. */
export class Pace {
  readonly #rule: PaceRule;
  readonly #startedAt: number;
  /** Transferred bytes at times within the window, oldest first. */
  readonly #samples: { readonly at: number; readonly bytes: number }[];
  #credit = 0;

  constructor(rule: PaceRule, nowMs: number) {
    this.#rule = rule;
    this.#startedAt = nowMs;
    this.#samples = [{ at: nowMs, bytes: 0 }];
  }

  /**
   * Returns whether the transfer is slower than the rule allows.
   * @param movedBytes bytes transferred since the start
   * @param isHeld whether this process delayed the transfer since the last check; that time counts as if the transfer
   * had met the rate
   */
  isSlow(nowMs: number, movedBytes: number, isHeld: boolean): boolean {
    const { graceMs, windowMs, bytesPerSecond } = this.#rule;
    const last = this.#samples.at(-1);
    if (isHeld && last !== undefined) this.#credit += ((nowMs - last.at) / 1_000) * bytesPerSecond;
    const bytes = movedBytes + this.#credit;
    this.#samples.push({ at: nowMs, bytes });
    while ((this.#samples[1]?.at ?? Infinity) <= nowMs - windowMs) this.#samples.shift();
    const first = this.#samples[0] ?? { at: nowMs, bytes };
    return nowMs - this.#startedAt >= graceMs && bytes - first.bytes < ((nowMs - first.at) / 1_000) * bytesPerSecond;
  }
}

/**
 * Called about once a second.
 * @param isLate whether this process was blocked for seconds, so that missing progress is not the client's fault
 */
export type Poll = (nowMs: number, isLate: boolean) => void;

const pollEveryMs = 1_000;
const lateMs = 3_000;
const polls = new Set<Poll>();
let timer: NodeJS.Timeout | undefined;

/**
 * Calls `poll` about once a second with the time of `performance.now()`. Returns a function that ends the calls. All
 * callers share one timer.
 */
export function pollRegularly(poll: Poll): () => void {
  polls.add(poll);
  timer ??= startTimer();
  return () => {
    polls.delete(poll);
    if (polls.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

function startTimer(): NodeJS.Timeout {
  let polledAt = performance.now();
  return setInterval(() => {
    const now = performance.now();
    const isLate = now - polledAt > lateMs;
    polledAt = now;
    for (const poll of polls) poll(now, isLate);
  }, pollEveryMs).unref();
}
