/**
 * Writes of one row that meet are one statement in one transaction: to start a statement, to wait for the disk and to be woken cost PostgreSQL and
 * the service more than to change the row. Two at most of a statement are under way, and whoever comes meanwhile travels with the next; one that
 * comes alone is sent alone, as it is.
 */
import type { GatheredPrepared, Placed } from '#libs/sql';

export interface GatheredRunner {
  /** One call, in a statement of its own. */
  alone(statement: GatheredPrepared, values: readonly unknown[]): Promise<Placed | undefined>;
  /** Several, in one transaction that waits for no lock for long. `columns` has a list for each parameter. */
  together(statement: GatheredPrepared, columns: readonly unknown[][]): Promise<readonly Placed[]>;
  /** Whether the calls may have taken effect, or none of them can. */
  isFinal(error: unknown): boolean;
}

interface Call {
  readonly key: number;
  readonly values: readonly unknown[];
  readonly bytes: number;
  readonly resolve: (row: Promise<Placed | undefined> | Placed | undefined) => void;
  readonly reject: (error: unknown) => void;
}

interface Lane {
  readonly statement: GatheredPrepared;
  waiting: Call[];
  underWay: number;
  isLooking: boolean;
}

const mostUnderWay = 2;
const mostCalls = 32;
/** Of texts; what is larger goes alone. */
const mostBytes = 262_144;

export class GatheredWrites {
  readonly #runner: GatheredRunner;
  readonly #lanes = new Map<string, Lane>();

  constructor(runner: GatheredRunner) {
    this.#runner = runner;
  }

  run(statement: GatheredPrepared, values: readonly unknown[]): Promise<Placed | undefined> {
    const lane = this.#findLane(statement);
    return new Promise((resolve, reject) => {
      lane.waiting.push({ key: Number(values[statement.key]), values, bytes: measure(values), resolve, reject });
      if (lane.isLooking) return;
      lane.isLooking = true;
      setImmediate(() => {
        lane.isLooking = false;
        this.#send(lane);
      });
    });
  }

  #findLane(statement: GatheredPrepared): Lane {
    let lane = this.#lanes.get(statement.name);
    if (lane === undefined) this.#lanes.set(statement.name, (lane = { statement, waiting: [], underWay: 0, isLooking: false }));
    return lane;
  }

  #send(lane: Lane): void {
    while (lane.waiting.length > 0 && lane.underWay < mostUnderWay) {
      lane.underWay++;
      void this.#work(lane.statement, take(lane)).finally(() => {
        lane.underWay--;
        this.#send(lane);
      });
    }
  }

  /** Never fails: the calls are told. */
  async #work(statement: GatheredPrepared, calls: readonly Call[]): Promise<void> {
    const [first] = calls;
    if (first === undefined) return;
    try {
      if (calls.length === 1) {
        first.resolve(await this.#runner.alone(statement, first.values));
        return;
      }
      const columns = first.values.map((_value, index) => calls.map(({ values }) => values[index]));
      const rows = await this.#runner.together(statement, columns);
      const byPlace = new Map(rows.map((row) => [row.place, row]));
      for (const [index, { resolve }] of calls.entries()) resolve(byPlace.get(index + 1));
    } catch (error) {
      const isFinal = calls.length === 1 || this.#runner.isFinal(error);
      for (const { values, resolve, reject } of calls) {
        if (isFinal) reject(error);
        else resolve(this.#runner.alone(statement, values)); // one of them failed, or waits for a lock: the others have nothing to do with it
      }
    }
  }
}

/** The first that fit, each of another row, in the order of their rows: two statements that lock the same ones do not wait for each other. */
function take(lane: Lane): Call[] {
  const taken = new Map<number, Call>();
  const left: Call[] = [];
  let bytes = 0;
  for (const call of lane.waiting) {
    const fits = taken.size === 0 || (taken.size < mostCalls && bytes + call.bytes <= mostBytes && !taken.has(call.key));
    if (!fits) {
      left.push(call);
      continue;
    }
    taken.set(call.key, call);
    bytes += call.bytes;
  }
  lane.waiting = left;
  return [...taken.values()].toSorted((one, other) => one.key - other.key);
}

function measure(values: readonly unknown[]): number {
  return values.reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 0), 0);
}
