import { describe, expect, it } from '@jest/globals';
import { createImportThrottle } from './workers.ts';

describe('work that gives way to imports (T3)', () => {
  const { signal } = new AbortController();

  /** After each piece of work: how long it took, whether rows are written then, and how much later than the one before it is. */
  async function rests(...steps: readonly { worked: number; writing: boolean; later?: number }[]): Promise<number[]> {
    const rested: number[] = [];
    let [time, writing] = [0, false];
    const pace = createImportThrottle({
      hasWriters: async () => writing,
      now: () => time,
      rest: async (ms) => void rested.push(ms),
    });
    for (const step of steps) {
      time += step.later ?? 0;
      ({ writing } = step);
      rested.push(0);
      await pace(step.worked, signal);
      if (rested.at(-1) !== 0) rested.splice(-2, 1);
    }
    return rested;
  }

  it('works without a rest while nobody writes rows', async () => {
    expect(await rests({ worked: 50, writing: false }, { worked: 500, writing: false })).toEqual([0, 0]);
  });

  it('rests four times as long as it has worked while somebody does, but never for long', async () => {
    expect(await rests({ worked: 50, writing: true }, { worked: 60_000, writing: true })).toEqual([200, 10_000]);
  });

  it('takes a moment between two transactions for a part of the import, and no longer', async () => {
    expect(
      await rests({ worked: 10, writing: true }, { worked: 10, writing: false, later: 1_900 }, { worked: 10, writing: false, later: 200 }),
    ).toEqual([40, 40, 0]);
  });
});
