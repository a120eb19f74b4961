/** What people see of a start: one line per step, with its time, and where it stands while it lasts. */
export class Screen {
  readonly #startedAt = performance.now();

  say(line = ''): void {
    process.stdout.write(`${line}\n`);
  }

  /** Runs a step and says how long it took; its progress is shown indented. */
  async step<T>(title: string, work: (progress: (line: string) => void) => Promise<T>): Promise<T> {
    const startedAt = performance.now();
    const result = await work((line) => this.say(`    ${line}`));
    this.say(`  ${title.padEnd(34)} ${seconds(performance.now() - startedAt)}`);
    return result;
  }

  /** Since the launcher began. */
  get elapsed(): string {
    return seconds(performance.now() - this.#startedAt);
  }
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}
