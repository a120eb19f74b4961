/**
 * Checks that invalid histories are rejected. They are written by hand, or are valid histories that were corrupted in
 * one position (lab/chaos).
 */
import { describe, expect, it } from '@jest/globals';
import type { Entry, Input, Outcome } from '../history.ts';
import { createRandom } from '../random.ts';
import { checkObject } from './linearizable.ts';
import { keyedCounter, register, singleton } from './models.ts';

type Requested = readonly [from: number, to: number, input: Input, output?: unknown, outcome?: Outcome];

const write = (value: unknown): Input => ({ do: 'write', value });
const read: Input = { do: 'read' };
const find: Input = { do: 'find' };
const count = (key: string): Input => ({ do: 'count', key });

function history(...requested: readonly Requested[]): Entry[] {
  return requested.map(([from, to, input, output, outcome = 'done'], index) => ({
    id: index + 1,
    kind: input.do,
    object: 'one',
    input,
    ...(output === undefined ? {} : { output }),
    outcome,
    from,
    to,
    answer: '200',
  }));
}

const shortestOf = (...args: Parameters<typeof checkObject>): number[] => {
  const verdict = checkObject(...args);
  if (verdict.is !== 'wrong') throw new Error(`the history is ${verdict.is}`);
  return verdict.shortest.map(({ id }) => id);
};

describe('history checker: a register', () => {
  it('allows either of two concurrent writes to be read, but not the first after the second was read', () => {
    const both = [
      [0, 10, write('a')],
      [0, 10, write('b')],
    ] as const;
    expect(checkObject(register, history(...both, [11, 12, read, 'a'])).is).toBe('linearizable');
    expect(checkObject(register, history(...both, [11, 12, read, 'b'])).is).toBe('linearizable');
    expect(shortestOf(register, history(...both, [11, 12, read, 'b'], [13, 14, read, 'a']))).toEqual([1, 2, 3, 4]);
  });

  it('reports the shortest history of a lost acknowledged write', () => {
    const lost = history(
      [0, 1, write('a')],
      [2, 3, read, 'a'],
      [4, 5, write('b')],
      [6, 7, write('c')],
      [8, 9, read, 'c'],
      [10, 11, write('d')],
      [12, 13, read, 'c'],
      [14, 15, write('e')],
      [16, 17, read, 'e'],
    );
    expect(shortestOf(register, lost)).toEqual([4, 6, 7]);
  });

  it('reports a read that returns an older value than an earlier read', () => {
    expect(
      shortestOf(register, history([0, 1, write('a')], [2, 20, write('b')], [3, 4, read, 'b'], [5, 6, read, 'a'])),
    ).toEqual([1, 2, 3, 4]);
  });

  it('allows an unanswered write to take effect at any later time, but not to be reverted', () => {
    const requested = [
      [0, 1, write('a')],
      [2, 3, write('b'), undefined, 'unknown'],
    ] as const;
    expect(checkObject(register, history(...requested, [4, 5, read, 'a'])).is).toBe('linearizable');
    expect(checkObject(register, history(...requested, [4, 5, read, 'a'], [90, 91, read, 'b'])).is).toBe(
      'linearizable',
    );
    expect(shortestOf(register, history(...requested, [4, 5, read, 'b'], [90, 91, read, 'a']))).toEqual([1, 2, 3, 4]);
  });

  it('reports a read that returns a rejected or unknown value', () => {
    expect(checkObject(register, history([0, 1, write('a'), undefined, 'refused'], [2, 3, read, 'a'])).is).toBe(
      'wrong',
    );
    expect(shortestOf(register, history([0, 1, write('a')], [2, 3, read, 'z'], [4, 5, read, 'a']))).toEqual([2]);
  });

  it('reports a read that returns a mix of two writes', () => {
    const writes = [
      [0, 10, write({ left: 1, right: 1 })],
      [0, 10, write({ left: 2, right: 2 })],
    ] as const;
    expect(checkObject(register, history(...writes, [11, 12, read, { left: 2, right: 2 }])).is).toBe('linearizable');
    expect(checkObject(register, history(...writes, [11, 12, read, { left: 1, right: 2 }])).is).toBe('wrong');
  });

  it('checks a register with hundreds of unanswered writes that were never read', () => {
    const unanswered = Array.from({ length: 400 }, (_, n): Requested => [
      n,
      n + 50,
      write(`u${n}`),
      undefined,
      'unknown',
    ]);
    const told = [
      [500, 501, write('a')],
      [502, 503, read, 'a'],
    ] as const;
    expect(checkObject(register, history(...unanswered, ...told)).is).toBe('linearizable');
    expect(shortestOf(register, history(...unanswered, ...told, [504, 505, read, null]))).toEqual([401, 403]);
  });
});

describe('history checker: an object created by the first request', () => {
  it('requires the same object for all clients, also when the creating request had no response', () => {
    const lost: Requested = [0, 1, find, undefined, 'unknown'];
    expect(checkObject(singleton, history(lost, [2, 9, find, 7], [2, 9, find, 7])).is).toBe('linearizable');
    expect(shortestOf(singleton, history([0, 9, find, 7], [0, 9, find, 7], [10, 11, find, 8]))).toEqual([2, 3]);
  });
});

describe('history checker: a counter of keys', () => {
  it('counts a key once, regardless of the number of unanswered retries', () => {
    const repeated = [
      [0, 1, count('a'), 1],
      [2, 3, count('b'), undefined, 'unknown'],
      [4, 5, count('b'), undefined, 'unknown'],
      [6, 7, count('b'), 2],
    ] as const;
    expect(checkObject(keyedCounter, history(...repeated, [8, 9, read, 2])).is).toBe('linearizable');
    expect(checkObject(keyedCounter, history(...repeated, [8, 9, read, 3])).is).toBe('wrong');
    expect(shortestOf(keyedCounter, history([0, 1, count('a'), 1], [2, 3, count('a'), 2]))).toEqual([1, 2]);
  });

  it('reports a lost acknowledged key when the count is too low', () => {
    expect(shortestOf(keyedCounter, history([0, 1, count('a'), 1], [2, 3, read, 1], [4, 5, read, 0]))).toEqual([1, 3]);
  });
});

/**
 * Returns the history of simulated clients of a correct register: each operation takes effect between its request and
 * its answer, and some requests are never answered.
 */
function simulate(seed: number): Entry[] {
  const random = createRandom(seed);
  const operations = Array.from({ length: 60 }, (_, n) => {
    const from = Math.floor(n / 3) * 10 + random.below(8);
    const at = from + random.below(15);
    return { n, from, at, to: at + random.below(15), writes: random.below(2) === 0, answered: random.below(8) > 0 };
  });
  let value: unknown = null;
  const outputs = new Map<number, unknown>();
  for (const { n, writes } of operations.toSorted((one, other) => one.at - other.at)) {
    if (writes) value = `v${n}`;
    else outputs.set(n, value);
  }
  return history(
    ...operations.map(({ n, from, to, writes, answered }): Requested =>
      answered
        ? [from, to, writes ? write(`v${n}`) : read, outputs.get(n)]
        : [from, to, writes ? write(`v${n}`) : read, undefined, 'unknown'],
    ),
  );
}

describe('history checker: simulated clients of one register', () => {
  const seeds = Array.from({ length: 40 }, (_, seed) => seed + 1);

  it('accepts every history of a correct register', () => {
    expect(seeds.map((seed) => [seed, checkObject(register, simulate(seed)).is])).toEqual(
      seeds.map((seed) => [seed, 'linearizable']),
    );
  });

  it('reports a register that loses its last value after all requests were answered', () => {
    for (const seed of seeds) {
      const right = simulate(seed);
      const first = right.find(({ input, outcome }) => input.do === 'write' && outcome === 'done');
      const later = right.filter(({ outcome, from }) => outcome === 'done' && from > (first?.to ?? 0)).length;
      if (later === 0) throw new Error(`seed ${seed} has no later operation`);
      const wrong = [...right, ...history([9_000, 9_001, read, null]).map((entry) => ({ ...entry, id: 1_000 }))];
      // The shortest history has two entries, or three when it contains a write without an answer and the read that
      // observed it.
      expect([seed, shortestOf(register, wrong).length <= 3]).toEqual([seed, true]);
    }
  });
});
