import { describe, expect, it } from '@jest/globals';
import { BatchCache } from './batch-cache.ts';

/** Creates a source of values whose look-ups the test resolves. */
function createSource() {
  const values = new Map<number, string>([1, 2, 3, 4].map((id) => [id, `v${id}`]));
  const calls: { ids: readonly number[]; answer: () => void }[] = [];
  const load = (ids: readonly number[]): Promise<Map<number, string>> =>
    new Promise((resolve) => {
      const seen = new Map(
        ids.flatMap((id): [number, string][] => (values.has(id) ? [[id, values.get(id) ?? '']] : [])),
      );
      calls.push({ ids, answer: () => resolve(seen) });
    });
  return { values, calls, load };
}
let time = 0;
const createCache = (source: ReturnType<typeof createSource>, capacity = 10, evicted: string[] = []) =>
  new BatchCache<string>({
    load: source.load,
    capacity,
    ttlMs: 100,
    now: () => time,
    onEvict: (value) => void evicted.push(value),
  });
const entriesOf = (map: Map<number, string>) => [...map].toSorted(([a], [b]) => a - b);

describe('BatchCache (architecture#ownership: a small cache that the owner’s change events invalidate)', () => {
  it('fetches missing entries with one look-up, and returns cached entries without a look-up', async () => {
    const source = createSource();
    const cache = createCache(source);
    const first = cache.getMany([1, 2, 2, 9]);
    source.calls[0]?.answer();
    expect(entriesOf(await first)).toEqual([
      [1, 'v1'],
      [2, 'v2'],
    ]);
    expect(source.calls.map((call) => call.ids)).toEqual([[1, 2, 9]]);
    expect(entriesOf(await cache.getMany([2, 1]))).toEqual([
      [1, 'v1'],
      [2, 'v2'],
    ]);
    expect(source.calls).toHaveLength(1);
  });

  it('returns cached entries to a reader of all entries, but does not store or evict entries for it', async () => {
    const source = createSource();
    const cache = createCache(source, 2);
    const kept = cache.getMany([1]);
    source.calls[0]?.answer();
    await kept;
    const all = cache.getMany([1, 2, 3, 4], false);
    source.calls[1]?.answer();
    expect((await all).size).toBe(4);
    expect(source.calls.map((call) => call.ids)).toEqual([[1], [2, 3, 4]]);
    expect([cache.size, cache.peek(1), cache.peek(2)]).toEqual([1, 'v1', undefined]);
  });

  it('looks up an id once for concurrent callers', async () => {
    const source = createSource();
    const cache = createCache(source);
    const waiting = [cache.getMany([1]), cache.getMany([1, 2])];
    expect(source.calls.map((call) => call.ids)).toEqual([[1], [2]]);
    for (const call of source.calls) call.answer();
    expect((await Promise.all(waiting)).map(entriesOf)).toEqual([
      [[1, 'v1']],
      [
        [1, 'v1'],
        [2, 'v2'],
      ],
    ]);
  });

  it('does not store an entry that was invalidated during its look-up, nor return it to later callers', async () => {
    const source = createSource();
    const cache = createCache(source);
    const before = cache.getMany([1]);
    source.values.set(1, 'new');
    cache.invalidate([1]);
    const after = cache.getMany([1]);
    for (const call of source.calls) call.answer();
    expect((await before).get(1)).toBe('v1');
    expect((await after).get(1)).toBe('new');
    expect(cache.peek(1)).toBe('new');
  });

  it('repeats a failed look-up for the next caller', async () => {
    let fails = true;
    const cache = new BatchCache<string>({
      load: async (ids) => {
        if (fails) throw new Error('away');
        return new Map(ids.map((id) => [id, 'v']));
      },
      capacity: 1,
      ttlMs: 100,
    });
    await expect(cache.getMany([1])).rejects.toThrow('away');
    fails = false;
    expect((await cache.getMany([1])).get(1)).toBe('v');
  });

  it('evicts unread entries first when it is full, and removes all entries with null', async () => {
    const source = createSource();
    const evicted: string[] = [];
    const cache = createCache(source, 2, evicted);
    for (const id of [1, 2, 1, 3]) {
      const found = cache.getMany([id]);
      source.calls.at(-1)?.answer();
      await found;
    }
    expect([cache.peek(1), cache.peek(2), cache.peek(3)]).toEqual(['v1', undefined, 'v3']);
    cache.invalidate(null);
    expect(cache.size).toBe(0);
    expect(evicted).toEqual(['v2', 'v1', 'v3']);
  });

  it('evicts the oldest entry when all entries were read, and never exceeds its capacity', async () => {
    const cache = new BatchCache<string>({
      load: async (ids) => new Map(ids.map((id) => [id, `v${id}`])),
      capacity: 3,
      ttlMs: 100,
    });
    await cache.getMany([1, 2, 3]);
    await cache.getMany([3, 2, 1]);
    await cache.getMany([4]);
    expect([1, 2, 3, 4].map((id) => cache.peek(id))).toEqual([undefined, 'v2', 'v3', 'v4']);
    expect((await cache.getMany([5, 6, 7, 8, 9])).size).toBe(5);
    expect(cache.size).toBe(3);
  });

  it('fetches an expired entry again', async () => {
    const source = createSource();
    const cache = createCache(source);
    const found = cache.getMany([1]);
    source.calls[0]?.answer();
    await found;
    time += 99;
    expect(cache.peek(1)).toBe('v1');
    time += 1;
    expect(cache.peek(1)).toBeUndefined();
  });
});
