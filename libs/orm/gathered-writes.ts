/**
 * Writes of one row that meet are one statement in one transaction: to start a statement, to wait for the disk and to be woken cost PostgreSQL and
 * the service more than to change the row. Two at most of a statement are under way, and whoever comes meanwhile travels with the next; one that
 * comes alone is sent alone, as it is.
 */
import { type Batcher, createBatcher } from '#libs/batch';
import type { GatheredPrepared, Placed } from '#libs/sql';

export interface GatheredRunner {
  /** One call, in a statement of its own. */
  alone(statement: GatheredPrepared, values: readonly unknown[]): Promise<Placed | undefined>;
  /** Several, in one transaction that waits for no lock for long. `columns` has a list for each parameter. */
  together(statement: GatheredPrepared, columns: readonly unknown[][]): Promise<readonly Placed[]>;
  /** Whether the calls may have taken effect, or none of them can. */
  isFinal(error: unknown): boolean;
}

/** Values of one call, in the order of the parameters. */
type Call = readonly unknown[];
/** A call that goes on alone keeps no other waiting. */
type Outcome = Placed | undefined | Promise<Placed | undefined>;

const mostCalls = 32;
/** Of texts; what is larger goes alone. */
const mostBytes = 262_144;

export class GatheredWrites {
  readonly #runner: GatheredRunner;
  /** By name of the statement. */
  readonly #batchers = new Map<string, Batcher<Call, Outcome>>();

  constructor(runner: GatheredRunner) {
    this.#runner = runner;
  }

  async run(statement: GatheredPrepared, values: Call): Promise<Placed | undefined> {
    const batcher = this.#batchers.get(statement.name) ?? this.#createBatcher(statement);
    this.#batchers.set(statement.name, batcher);
    return batcher.add(values);
  }

  /** Never two calls of one row, of which the statement would apply one. */
  #createBatcher(statement: GatheredPrepared): Batcher<Call, Outcome> {
    const keyOf = (call: Call): string => String(call[statement.key]);
    return createBatcher({
      keyOf,
      sizeOf: measure,
      maxItems: mostCalls,
      maxSize: mostBytes,
      run: async (calls) => {
        const outcomes = await this.#work(statement, calls);
        return new Map(calls.map((call, index) => [keyOf(call), outcomes[index]]));
      },
    });
  }

  /** @returns what becomes of each call */
  async #work(statement: GatheredPrepared, calls: readonly [Call, ...Call[]]): Promise<Outcome[]> {
    const alone = (call: Call): Promise<Placed | undefined> => this.#runner.alone(statement, call);
    const [first] = calls;
    if (calls.length === 1) return [await alone(first)];
    // In the order of their rows: two statements that lock the same ones do not wait for each other.
    const sent = calls.toSorted((one, other) => Number(one[statement.key]) - Number(other[statement.key]));
    try {
      const rows = await this.#runner.together(
        statement,
        first.map((_value, index) => sent.map((call) => call[index])),
      );
      const byCall = new Map(rows.map((row) => [sent[row.place - 1], row]));
      return calls.map((call) => byCall.get(call));
    } catch (error) {
      if (this.#runner.isFinal(error)) throw error;
      return calls.map(alone); // one of them failed, or waits for a lock: the others have nothing to do with it
    }
  }
}

function measure(call: Call): number {
  return call.reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 0), 0);
}
