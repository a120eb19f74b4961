/** What clients asked and what they were told, one line of JSON each: all that is judged afterwards. */
import { appendFileSync, readFileSync } from 'node:fs';

/**
 * `done`: answered with a 2xx. `refused`: answered so that nothing happened (4xx). `unknown`: an error or no answer at all; it may have
 * happened, may still happen, or never.
 */
export type Outcome = 'done' | 'refused' | 'unknown';

export interface Entry {
  readonly id: number;
  /** As people know it, e.g. `PATCH conversation`. */
  readonly kind: string;
  /** What it is about: operations of one object are judged together. */
  readonly object: string;
  readonly input: Input;
  /** Part of the answer that the model knows; undefined without one. */
  readonly output?: unknown;
  readonly outcome: Outcome;
  /** Milliseconds since the begin of the run: sent, and answered or given up. */
  readonly from: number;
  readonly to: number;
  /** Status of the answer, or what went wrong instead. */
  readonly answer: string;
}

export type Input =
  | { readonly do: 'read' }
  | { readonly do: 'write'; readonly value: unknown }
  /** Asks for the one thing of this name, which is made when it is not there. */
  | { readonly do: 'find' }
  /** Counts once for each key. */
  | { readonly do: 'count'; readonly key: string }
  /** Something that has its effect later, which is looked for at the end. */
  | { readonly do: 'effect'; readonly key: string };

export interface History {
  readonly entries: readonly Entry[];
  /** Milliseconds since its begin. */
  now(): number;
  add(entry: Omit<Entry, 'id'>): void;
}

/** Every entry is in `file` before the next request of its client. */
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

/** What `createHistory` has written. */
export function readHistory(file: string): Entry[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Entry);
}

/** One line for people. */
export function describeEntry(entry: Entry): string {
  const { id, kind, object, input, output, outcome, from, to, answer } = entry;
  const times = `${(from / 1000).toFixed(3)} to ${outcome === 'unknown' ? '?' : (to / 1000).toFixed(3)} s`;
  const requested = JSON.stringify('value' in input ? input.value : 'key' in input ? input.key : input.do);
  return `#${id} ${times} ${kind} of ${object}: ${requested} → ${outcome} (${answer})${output === undefined ? '' : ` ${JSON.stringify(output)}`}`;
}
