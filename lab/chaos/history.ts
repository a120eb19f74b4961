/** History of requests and answers, one per line as JSON. All checks of the clients' answers read only this history. */
import { appendFileSync, readFileSync } from 'node:fs';

/**
 * `done`: answered with a 2xx. `refused`: rejected without effect (4xx). `unknown`: an error or no answer; the
 * operation may have taken effect, may still take effect, or never will.
 */
export type Outcome = 'done' | 'refused' | 'unknown';

export interface Entry {
  readonly id: number;
  /** Display name, e.g. `PATCH conversation`. */
  readonly kind: string;
  /** Object of the operation; operations of one object are checked together. */
  readonly object: string;
  readonly input: Input;
  /** Data of the answer that the model compares; undefined without an answer. */
  readonly output?: unknown;
  readonly outcome: Outcome;
  /**
   * Milliseconds from the start of the run to the sending of the request (`from`), and to its answer or abort (`to`).
   */
  readonly from: number;
  readonly to: number;
  /** Status of the answer, or the error. */
  readonly answer: string;
}

export type Input =
  | { readonly do: 'read' }
  | { readonly do: 'write'; readonly value: unknown }
  /** Finds the object of this name, or creates it. */
  | { readonly do: 'find' }
  /** Increments a counter once per key. */
  | { readonly do: 'count'; readonly key: string }
  /** Requests a deferred effect, which is checked at the end of the run. */
  | { readonly do: 'effect'; readonly key: string };

export interface History {
  readonly entries: readonly Entry[];
  /** Returns milliseconds since the start of the run. */
  now(): number;
  add(entry: Omit<Entry, 'id'>): void;
}

/** Returns a history that is stored in `file`. Each entry is written before the next request of its client. */
export function createHistory(file: string): History {
  const entries: Entry[] = [];
  const beganAt = performance.now();
  return {
    entries,
    now: () => performance.now() - beganAt,
    add: (entry) => {
      const whole = { id: entries.length + 1, ...entry };
      entries.push(whole);
      appendFileSync(file, `${JSON.stringify(whole)}\n`);
    },
  };
}

/** Reads a file written by `createHistory`. */
export function readHistory(file: string): Entry[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Entry);
}

/** Returns the entry as one readable line. */
export function describeEntry(entry: Entry): string {
  const { id, kind, object, input, output, outcome, from, to, answer } = entry;
  const times = `${(from / 1000).toFixed(3)} to ${outcome === 'unknown' ? '?' : (to / 1000).toFixed(3)} s`;
  const requested = JSON.stringify('value' in input ? input.value : 'key' in input ? input.key : input.do);
  return `#${id} ${times} ${kind} of ${object}: ${requested} → ${outcome} (${answer})${output === undefined ? '' : ` ${JSON.stringify(output)}`}`;
}
