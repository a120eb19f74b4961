/** Compares two sorted listings in parallel: one request per page covers all keys of that page. */
export interface Keyed {
  readonly key: string;
}

/** Returns a look-up by key. Keys must be requested in ascending order. */
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
