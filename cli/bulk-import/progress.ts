/** Prints the progress of an import to stderr, starting after 3 seconds. */
const silentMs = 3_000;
const everyMs = 3_000;

export class Progress {
  readonly #what: string;
  readonly #total: number | undefined;
  readonly #startedAt = performance.now();
  #reportedAt = performance.now() + silentMs - everyMs;

  constructor(what: string, total?: number) {
    this.#what = what;
    this.#total = total;
  }

  report(done: number): void {
    const now = performance.now();
    if (now - this.#reportedAt < everyMs) return;
    this.#reportedAt = now;
    const rate = Math.round((done * 1000) / (now - this.#startedAt));
    const of = this.#total === undefined ? '' : ` of ${this.#total}`;
    process.stderr.write(`conversations: ${done}${of} ${this.#what} (${rate} per second)\n`);
  }
}
