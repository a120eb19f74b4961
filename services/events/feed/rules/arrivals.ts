/**
 * Which messages of the stream may enter the feed now (V2): in the order of the stream, none while one before it is in other hands, and held for a
 * moment, so that what different services tell of one subject can be put into the order in which it happened.
 */

export interface Arrival<Message> {
  readonly sequence: number;
  readonly arrivedMs: number;
  /** The broker has given it to somebody before. */
  readonly again: boolean;
  readonly message: Message;
}

/** Longer than a service gathers what it tells. */
export const holdMs = 170;
/** A message before these is in other hands, or gone: longer than it takes until the broker gives it to somebody else. */
const lostAfterMs = 10_000;

export class Arrivals<Message> {
  readonly #waiting = new Map<number, Arrival<Message>>();
  #settled: number;
  #stuckSinceMs: number | undefined;

  /** `settled`: sequence of the last message that is in the feed. */
  constructor(settled: number) {
    this.#settled = settled;
  }

  get waiting(): Iterable<Arrival<Message>> {
    return this.#waiting.values();
  }

  /**
   * @returns the one that is not waited with, of two with one sequence: what the broker gives again, since it was not settled in time, is settled with
   * the first; one that comes for the first time is of a stream that began anew, and takes the other's place
   */
  add(arrival: Arrival<Message>): Arrival<Message> | undefined {
    const before = this.#waiting.get(arrival.sequence);
    if (before !== undefined && arrival.again) return arrival;
    this.#waiting.set(arrival.sequence, arrival);
    return before;
  }

  /** What may enter now, in order. It stays until `settle`. */
  due(nowMs: number): Arrival<Message>[] {
    const sorted = [...this.#waiting.values()].toSorted((a, b) => a.sequence - b.sequence);
    const due: Arrival<Message>[] = [];
    let expected = this.#settled + 1;
    for (const arrival of sorted) {
      // One from before comes again, or the stream began anew: the feed knows what it has.
      if (arrival.sequence > expected || nowMs - arrival.arrivedMs < holdMs) break;
      due.push(arrival);
      expected = Math.max(expected, arrival.sequence + 1);
    }
    this.#watch(due.length === 0 ? sorted[0] : undefined, expected, nowMs);
    return due;
  }

  /** The sequence that is settled when these are. */
  settledWith(arrivals: readonly Arrival<Message>[]): number {
    let settled = this.#settled;
    for (const { sequence, again } of arrivals) if (!again || sequence > settled) settled = sequence;
    return settled;
  }

  settle(arrivals: readonly Arrival<Message>[]): void {
    this.#settled = this.settledWith(arrivals);
    for (const arrival of arrivals) if (this.#waiting.get(arrival.sequence) === arrival) this.#waiting.delete(arrival.sequence);
  }

  /** Everything that came goes back. */
  clear(): Arrival<Message>[] {
    const all = [...this.#waiting.values()];
    this.#waiting.clear();
    return all;
  }

  /** A message that does not come for so long never will: the feed goes on without it. */
  #watch(first: Arrival<Message> | undefined, expected: number, nowMs: number): void {
    if (first === undefined || first.sequence <= expected) {
      this.#stuckSinceMs = undefined;
      return;
    }
    this.#stuckSinceMs ??= nowMs;
    if (nowMs - this.#stuckSinceMs < lostAfterMs) return;
    this.#settled = first.sequence - 1;
    this.#stuckSinceMs = undefined;
  }
}
