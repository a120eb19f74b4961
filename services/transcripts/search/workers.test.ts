import { describe, expect, it } from '@jest/globals';
import { createImportThrottle } from './workers.ts';

describe('background work that yields to imports (T3)', () => {
  const { signal } = new AbortController();

  /**
   * Returns the pauses in milliseconds. A step contains the duration of the work, whether rows are being written, and
   * the delay since the previous step.
   */
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

  it('runs without pauses while no import writes rows', async () => {
    expect(await rests({ worked: 50, writing: false }, { worked: 500, writing: false })).toEqual([0, 0]);
  });

  it('pauses four times as long as it has worked during an import, up to a limit', async () => {
    expect(await rests({ worked: 50, writing: true }, { worked: 60_000, writing: true })).toEqual([200, 10_000]);
  });

  it('continues to pause for two seconds after the last write of an import', async () => {
    expect(
      await rests(
        { worked: 10, writing: true },
        { worked: 10, writing: false, later: 1_900 },
        { worked: 10, writing: false, later: 200 },
      ),
    ).toEqual([40, 40, 0]);
  });
});
