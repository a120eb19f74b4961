/** Two sorted listings side by side: one request a page answers for all keys of that page. */
export interface Keyed {
  readonly key: string;
}

/** Asked for keys in their order, finds the item of each. */
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
