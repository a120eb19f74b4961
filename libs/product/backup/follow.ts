/** Compares two sorted listings in parallel, so that each page of keys needs only one request. */
export interface Keyed {
  readonly key: string;
}

/** Returns a function that finds an item by key. The keys of its calls must ascend. */
export function follow<Item extends Keyed>(items: AsyncIterable<Item>): (key: string) => Promise<Item | undefined> {
  const iterator = items[Symbol.asyncIterator]();
  let current: Item | undefined;
  let ended = false;
  return async (key) => {
    while (!ended && (current === undefined || current.key < key)) {
      const next = await iterator.next();
      ended = next.done === true;
      current = ended ? undefined : next.value;
    }
    return current?.key === key ? current : undefined;
  };
}
