/**
 * Coalesces concurrent single-row writes into one statement and transaction: starting a statement and waiting for the
 * disk cost more than the change itself. At most two batches per statement run at once; later calls join the next
 * batch. A call without company runs unbatched.
 */
import { type Batcher, createBatcher } from '#libs/infrastructure/concurrency';
import type { CoalescedPrepared, CoalescedRow } from '#libs/infrastructure/sql';

export interface CoalescedRunner {
  /** Runs one call without a batch. */
  alone(statement: CoalescedPrepared, values: readonly unknown[]): Promise<CoalescedRow | undefined>;
  /** Runs several calls in one transaction with a short lock timeout. `columns` has one list per parameter. */
  runBatch(statement: CoalescedPrepared, columns: readonly unknown[][]): Promise<readonly CoalescedRow[]>;
  /**
   * Returns whether a failed batch must not be retried: its calls may have taken effect, or all of them would fail
   * again.
   */
  isFinal(error: unknown): boolean;
}

/** Values of one call, in the order of the parameters. */
type Call = readonly unknown[];
/** The result of a call, or a promise for a call that runs alone and must not delay the others. */
type Outcome = CoalescedRow | undefined | Promise<CoalescedRow | undefined>;

const maxCalls = 32;
/** Maximum text size of a batch in characters. Larger calls run alone. */
const maxBytes = 262_144;

export class WriteCoalescer {
  readonly #runner: CoalescedRunner;
  /** By statement name. */
  readonly #batchers = new Map<string, Batcher<Call, Outcome>>();

  constructor(runner: CoalescedRunner) {
    this.#runner = runner;
  }

  async run(statement: CoalescedPrepared, values: Call): Promise<CoalescedRow | undefined> {
    const batcher = this.#batchers.get(statement.name) ?? this.#createBatcher(statement);
    this.#batchers.set(statement.name, batcher);
    return batcher.add(values);
  }

  /** A batch has one call per row: the statement would apply only one of several. */
  #createBatcher(statement: CoalescedPrepared): Batcher<Call, Outcome> {
    const keyOf = (call: Call): string => String(call[statement.key]);
    return createBatcher({
      keyOf,
      sizeOf: measure,
      maxItems: maxCalls,
      maxSize: maxBytes,
      run: async (calls) => {
        const outcomes = await this.#runBatch(statement, calls);
        return new Map(calls.map((call, index) => [keyOf(call), outcomes[index]]));
      },
    });
  }

  /** @returns the outcome of each call, in order */
  async #runBatch(statement: CoalescedPrepared, calls: readonly [Call, ...Call[]]): Promise<Outcome[]> {
    const runSingle = (call: Call): Promise<CoalescedRow | undefined> => this.#runner.alone(statement, call);
    const [first] = calls;
    if (calls.length === 1) return [await runSingle(first)];
    // Ordered by row, so that two batches lock rows in the same order.
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
      return calls.map(runSingle); // one call failed or had to wait for a lock; each call now runs alone, so that the others succeed
    }
  }
}

function measure(call: Call): number {
  return call.reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 0), 0);
}
