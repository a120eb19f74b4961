/**
 * Collects items into batches: items added in one turn of the event loop, and items added while the maximum number of
 * batches runs. Under load one round trip serves many items; without load there is no delay.
 */
export interface Batcher<Item, Result> {
  /**
   * Adds an item. Resolves with its result, or with undefined when the batch has no result for it. @throws the error of
   * the batch
   */
  add(item: Item): Promise<Result | undefined>;
  /** Resolves when no item is pending. */
  idle(): Promise<void>;
}

interface PendingItem<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/** Creates a batcher. Items with the same `keyOf` never share a batch. `run` returns results by key. */
export function createBatcher<Item, Result>(options: {
  readonly keyOf: (item: Item) => string;
  readonly run: (items: [Item, ...Item[]]) => Promise<ReadonlyMap<string, Result>>;
  readonly maxItems?: number;
  /** Size of an item, in the unit of `maxSize`. An item over the limit has a separate batch. */
  readonly sizeOf?: (item: Item) => number;
  readonly maxSize?: number;
  /** Maximum concurrent batches, default 2. */
  readonly maxParallel?: number;
}): Batcher<Item, Result> {
  const { keyOf, run, maxItems = 500, sizeOf = () => 0, maxSize = Infinity, maxParallel = 2 } = options;
  let waiting: PendingItem<Item, Result>[] = [];
  let running = 0;
  let scheduled = false;
  let idleListeners: (() => void)[] = [];

  const takeBatch = (): Map<string, PendingItem<Item, Result>> => {
    const batch = new Map<string, PendingItem<Item, Result>>();
    const rest: PendingItem<Item, Result>[] = [];
    let size = 0;
    for (const entry of waiting) {
      const key = keyOf(entry.item);
      size += sizeOf(entry.item);
      if (batch.size === 0 || (batch.size < maxItems && size <= maxSize && !batch.has(key))) batch.set(key, entry);
      else rest.push(entry);
    }
    waiting = rest;
    return batch;
  };

  const flush = async (): Promise<void> => {
    running++;
    const batch = takeBatch();
    schedule();
    try {
      const results = await run([...batch.values()].map(({ item }) => item) as [Item, ...Item[]]);
      for (const [key, entry] of batch) entry.resolve(results.get(key));
    } catch (error) {
      for (const entry of batch.values()) entry.reject(error);
    } finally {
      running--;
      schedule();
      if (running === 0 && waiting.length === 0) {
        for (const resolve of idleListeners) resolve();
        idleListeners = [];
      }
    }
  };

  const schedule = (): void => {
    if (scheduled || waiting.length === 0 || running >= maxParallel) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      if (running < maxParallel && waiting.length > 0) void flush();
    });
  };

  return {
    add: (item) =>
      new Promise((resolve, reject) => {
        waiting.push({ item, resolve, reject });
        schedule();
      }),
    idle: () =>
      running === 0 && waiting.length === 0 ? Promise.resolve() : new Promise((resolve) => idleListeners.push(resolve)),
  };
}
