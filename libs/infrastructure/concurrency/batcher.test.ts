import { describe, expect, it } from '@jest/globals';
import { createBatcher } from './batcher.ts';

const later = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('createBatcher', () => {
  it('runs items of one tick as one batch, and items added during a batch as the next one', async () => {
    const batches: number[][] = [];
    const batcher = createBatcher<number, number>({
      keyOf: String,
      maxParallel: 1,
      run: async (items) => {
        batches.push(items);
        await later();
        return new Map(items.map((item) => [String(item), item * 2]));
      },
    });
    const first = Promise.all([1, 2, 3].map((item) => batcher.add(item)));
    await later();
    const second = Promise.all([4, 5].map((item) => batcher.add(item)));
    await expect(first).resolves.toEqual([2, 4, 6]);
    await expect(second).resolves.toEqual([8, 10]);
    expect(batches).toEqual([
      [1, 2, 3],
      [4, 5],
    ]);
  });

  it('never batches two items with the same key, and limits the number of items per batch', async () => {
    const batches: string[][] = [];
    const batcher = createBatcher<string, string>({
      keyOf: (item) => item,
      maxItems: 2,
      run: async (items) => {
        batches.push(items);
        return new Map(items.map((item) => [item, item]));
      },
    });
    await Promise.all(['a', 'a', 'b', 'c'].map((item) => batcher.add(item)));
    expect(batches).toEqual([
      ['a', 'b'],
      ['a', 'c'],
    ]);
  });

  it('limits the total size of a batch and preserves the order of items', async () => {
    const batches: string[][] = [];
    const batcher = createBatcher<string, string>({
      keyOf: (item) => item,
      sizeOf: (item) => item.length,
      maxSize: 6,
      run: async (items) => {
        batches.push(items);
        return new Map(items.map((item) => [item, item]));
      },
    });
    const items = ['aaa', 'bbb', 'cccc', 'd', 'too large a one', 'e'];
    await expect(Promise.all(items.map((item) => batcher.add(item)))).resolves.toEqual(items);
    expect(batches).toEqual([['aaa', 'bbb'], ['cccc', 'd'], ['too large a one'], ['e']]);
  });

  it('runs a second batch concurrently when the waiting items exceed one batch', async () => {
    let [running, most] = [0, 0];
    const batcher = createBatcher<number, number>({
      keyOf: String,
      maxItems: 1,
      run: async () => {
        most = Math.max(most, ++running);
        for (let turn = 0; turn < 5; turn++) await later();
        running--;
        return new Map();
      },
    });
    await Promise.all([1, 2, 3].map((item) => batcher.add(item)));
    expect(most).toBe(2);
  });

  it('resolves an item without a result with undefined, and rejects all items of a failed batch', async () => {
    let fails = false;
    const batcher = createBatcher<number, number>({
      keyOf: String,
      run: async () => {
        if (fails) throw new Error('away');
        return new Map();
      },
    });
    await expect(batcher.add(1)).resolves.toBeUndefined();
    fails = true;
    const outcomes = await Promise.allSettled([batcher.add(1), batcher.add(2)]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    fails = false;
    await expect(batcher.add(3)).resolves.toBeUndefined();
  });

  it('becomes idle when no item is pending', async () => {
    let done = 0;
    const batcher = createBatcher<number, number>({
      keyOf: String,
      run: async (items) => {
        await later();
        done += items.length;
        return new Map();
      },
    });
    await batcher.idle();
    for (let item = 0; item < 5; item++) void batcher.add(item);
    await batcher.idle();
    expect(done).toBe(5);
  });
});
