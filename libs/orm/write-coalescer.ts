/**
 * Writes of one row that meet are one statement in one transaction: to start a statement, to wait for the disk and to be woken cost PostgreSQL and
 * the service more than to change the row. Two at most of a statement are under way, and whoever comes meanwhile travels with the next; one that
 * comes alone is sent alone, as it is.
 */
import { type Batcher, createBatcher } from '#libs/concurrency';
import type { CoalescedPrepared, CoalescedRow } from '#libs/sql';

export interface CoalescedRunner {
  /** One call, in a statement of its own. */
  alone(statement: CoalescedPrepared, values: readonly unknown[]): Promise<CoalescedRow | undefined>;
  /** Several, in one transaction that waits for no lock for long. `columns` has a list for each parameter. */
  runBatch(statement: CoalescedPrepared, columns: readonly unknown[][]): Promise<readonly CoalescedRow[]>;
  /** Whether the calls may have taken effect, or none of them can. */
  isFinal(error: unknown): boolean;
}

/** Values of one call, in the order of the parameters. */
type Call = readonly unknown[];
/** A call that goes on alone keeps no other waiting. */
type Outcome = CoalescedRow | undefined | Promise<CoalescedRow | undefined>;

const maxCalls = 32;
/** Of texts; what is larger goes alone. */
const maxBytes = 262_144;

export class WriteCoalescer {
  readonly #runner: CoalescedRunner;
  /** By name of the statement. */
  readonly #batchers = new Map<string, Batcher<Call, Outcome>>();

  constructor(runner: CoalescedRunner) {
    this.#runner = runner;
  }

  async run(statement: CoalescedPrepared, values: Call): Promise<CoalescedRow | undefined> {
    const batcher = this.#batchers.get(statement.name) ?? this.#createBatcher(statement);
    this.#batchers.set(statement.name, batcher);
    return batcher.add(values);
  }

  /** Never two calls of one row, of which the statement would apply one. */
  #createBatcher(statement: CoalescedPrepared): Batcher<Call, Outcome> {
    const keyOf = (call: Call): string => String(call[statement.key]);
    return createBatcher({
      keyOf,
      sizeOf: measure,
      maxItems: maxCalls,
      maxSize: maxBytes,
      run: async (calls) => {
        const outcomes = await this.#work(statement, calls);
        return new Map(calls.map((call, index) => [keyOf(call), outcomes[index]]));
      },
    });
  }

  /** @returns what becomes of each call */
  async #work(statement: CoalescedPrepared, calls: readonly [Call, ...Call[]]): Promise<Outcome[]> {
    const runSingle = (call: Call): Promise<CoalescedRow | undefined> => this.#runner.alone(statement, call);
    const [first] = calls;
    if (calls.length === 1) return [await runSingle(first)];
    // In the order of their rows: two statements that lock the same ones do not wait for each other.
    const sent = calls.toSorted((one, other) => Number(one[statement.key]) - Number(other[statement.key]));
    try {
      const rows = await this.#runner.runBatch(
        statement,
        first.map((_value, index) => sent.map((call) => call[index])),
      );
      const byCall = new Map(rows.map((row) => [sent[row.ordinal - 1], row]));
      return calls.map((call) => byCall.get(call));
    } catch (error) {
      if (this.#runner.isFinal(error)) throw error;
      return calls.map(runSingle); // one of them failed, or waits for a lock: the others have nothing to do with it
    }
  }
}

function measure(call: Call): number {
  return call.reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 0), 0);
}
