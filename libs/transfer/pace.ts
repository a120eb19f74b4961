/**
 * Transfers that crawl (D62). A client that sends or takes a byte now and then holds memory and a connection for as long as it likes;
 * a limit of the whole time would break long transfers over slow lines. So the rate is looked at, over a sliding window.
 */

/** The minimum rate of a transfer. */
export interface PaceRule {
  /** Time at the beginning in which any rate will do. */
  readonly graceMs: number;
  readonly windowMs: number;
  readonly bytesPerSecond: number;
}

/** Bodies that a client sends. */
export const bodyPace: PaceRule = { graceMs: 5_000, windowMs: 10_000, bytesPerSecond: 1_024 };
/**
 * Answers that a client takes. The kernel tells of what was taken in pieces of up to a megabyte, so that the same rate shows over a
 * longer time only.
 */
export const answerPace: PaceRule = { graceMs: 60_000, windowMs: 120_000, bytesPerSecond: 1_024 };

/** The rate of one transfer. */
export class Pace {
  readonly #rule: PaceRule;
  readonly #startedAt: number;
  /** Bytes at some moments of the window, the oldest first. */
  readonly #samples: { readonly at: number; readonly bytes: number }[];
  #credit = 0;

  constructor(rule: PaceRule, nowMs: number) {
    this.#rule = rule;
    this.#startedAt = nowMs;
    this.#samples = [{ at: nowMs, bytes: 0 }];
  }

  /**
   * True when the transfer is slower than the rule allows.
   * @param movedBytes since its beginning.
   * @param isHeld the other side was not waited for since the last look: that time counts as if it had kept the pace.
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

/** @param isLate this process was busy for seconds: nobody else is to blame for what has not moved. */
export type Poll = (nowMs: number, isLate: boolean) => void;

const pollEveryMs = 1_000;
const lateMs = 3_000;
const polls = new Set<Poll>();
let timer: NodeJS.Timeout | undefined;

/** Calls back about once a second, at times of `performance.now()`, until the returned function is called. One timer serves all. */
export function pollRegularly(look: Poll): () => void {
  polls.add(look);
  timer ??= startTimer();
  return () => void polls.delete(look);
}

function startTimer(): NodeJS.Timeout {
  let polledAt = performance.now();
  return setInterval(() => {
    const now = performance.now();
    const isLate = now - polledAt > lateMs;
    polledAt = now;
    for (const poll of polls) poll(now, isLate);
    if (polls.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }, pollEveryMs).unref();
}
