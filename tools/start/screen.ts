/** Prints the terminal output of a start: one line per step with its duration, and progress lines. */
export class Screen {
  /**
   * Time of the command's start on the clock of `performance.now()`. It can be before the start of this process, since
   * the bootstrap may have installed packages first.
   */
  readonly #startedAt = Number(process.env['COHERENCE_BEGAN_AT'] ?? performance.timeOrigin) - performance.timeOrigin;
  readonly #steps: { readonly title: string; readonly from: number; readonly to: number }[] = [];

  constructor() {
    this.#record('packages, and loading the launcher', this.#startedAt);
  }

  log(line = ''): void {
    process.stdout.write(`${line}\n`);
  }

  /** Runs a step and prints its duration. Progress lines are indented. */
  async step<T>(title: string, work: (progress: (line: string) => void) => Promise<T>): Promise<T> {
    const startedAt = performance.now();
    const result = await work((line) => this.log(`    ${line}`));
    this.#record(title, startedAt);
    this.log(`  ${title.padEnd(34)} ${seconds(performance.now() - startedAt)}`);
    return result;
  }

  /** Runs a step whose duration only `describeTimes` reports. */
  async quietStep<T>(title: string, work: () => Promise<T>): Promise<T> {
    const startedAt = performance.now();
    try {
      return await work();
    } finally {
      this.#record(title, startedAt);
    }
  }

  /** Returns one line per step, in the order in which the steps started. Steps can overlap. */
  describeTimes(): string {
    const rows = this.#steps.toSorted((a, b) => a.from - b.from);
    const cells = rows.map(({ title, from, to }) => [
      title,
      ...[from, to, to - from].map((time) => seconds(time).padStart(8)),
    ]);
    return [['step', ...['from', 'to', 'took'].map((heading) => heading.padStart(8))], ...cells]
      .map(([title = '', ...times]) => `  ${title.padEnd(36)}${times.join('')}`)
      .join('\n');
  }

  #record(title: string, startedAt: number): void {
    this.#steps.push({ title, from: startedAt - this.#startedAt, to: performance.now() - this.#startedAt });
  }

  /** Returns the time since the command was started. */
  get elapsed(): string {
    return seconds(performance.now() - this.#startedAt);
  }
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}
