/** Where long audio is cut: in silence, as late as a part may be long. Works on silences as they are found and keeps nothing of the rest. */

export interface SplitLimits {
  /** No part is longer. */
  readonly maxSeconds: number;
  /** A silence that is earlier in a part than this is no reason to cut there. */
  readonly minSeconds: number;
}

/** Collects cuts while silences come in the order of their times. */
export class SplitPlan {
  readonly #limits: SplitLimits;
  readonly #cuts: number[] = [];
  /** Middle of the latest silence in which the current part may end. */
  #candidate: number | undefined;

  constructor(limits: SplitLimits) {
    this.#limits = limits;
  }

  /** The next silence, seconds from the beginning of the audio. */
  silence(start: number, end: number): void {
    const middle = (start + end) / 2;
    this.#cutUntil(middle);
    if (middle - this.#begin >= this.#limits.minSeconds) this.#candidate = middle;
  }

  /** Every cut, ascending; each part between them is at most `maxSeconds` long. */
  finish(durationSeconds: number): number[] {
    this.#cutUntil(durationSeconds);
    return [...this.#cuts];
  }

  get #begin(): number {
    return this.#cuts.at(-1) ?? 0;
  }

  /** Cuts as long as the part that reaches to `seconds` would be too long. */
  #cutUntil(seconds: number): void {
    while (seconds - this.#begin > this.#limits.maxSeconds) {
      this.#cuts.push(this.#candidate ?? this.#begin + this.#limits.maxSeconds);
      this.#candidate = undefined;
    }
  }
}
