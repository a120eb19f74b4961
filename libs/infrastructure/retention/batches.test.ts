import { describe, expect, it } from '@jest/globals';
import { nextLimit, removeInBatches } from './index.ts';

describe('removeInBatches', () => {
  it('removes all rows in batches that grow while they are fast', async () => {
    let rows = 50_000;
    const limits: number[] = [];
    const remove = async (limit: number): Promise<number> => {
      limits.push(limit);
      const removed = Math.min(rows, limit);
      rows -= removed;
      return removed;
    };
    expect(await removeInBatches({ remove })).toBe(50_000);
    expect([rows, limits.length]).toEqual([0, 6]);
  });

  it('stops when the signal aborts or the time budget is exhausted', async () => {
    const aborted = new AbortController();
    let batches = 0;
    const remove = async (limit: number): Promise<number> => {
      batches += 1;
      aborted.abort();
      return limit;
    };
    expect(await removeInBatches({ remove, signal: aborted.signal })).toBe(1_000);
    expect(await removeInBatches({ remove, budgetMs: 0 })).toBe(1_000);
    expect(batches).toBe(2);
  });

  it.each([
    [1_000, 10, 2_000],
    [20_000, 10, 20_000],
    [1_000, 200, 1_000],
    [1_000, 900, 500],
    [100, 900, 100],
  ])('follows a batch of %i rows that took %i ms with one of %i rows', (limit, tookMs, next) => {
    expect(nextLimit(limit, tookMs)).toBe(next);
  });
});
