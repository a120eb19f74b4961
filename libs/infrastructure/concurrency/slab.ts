/**
 * A table for short-lived items. A long-lived `Set` or `Map` with high turnover keeps deleted entries alive: V8
 * replaces its table repeatedly, and old tables reference their entries and the next table, so that all of them survive
 * until a full collection (docs/performance-notes.md#slab-for-in-flight-requests).
 */
export class Slab<Item> {
  readonly #items: (Item | undefined)[] = [];
  readonly #free: number[] = [];

  get size(): number {
    return this.#items.length - this.#free.length;
  }

  /** Index that the next added item gets. */
  get nextIndex(): number {
    return this.#free.at(-1) ?? this.#items.length;
  }

  /** Adds an item. @returns the index of the item, which is reused after `remove` */
  add(item: Item): number {
    const slot = this.#free.pop() ?? this.#items.length;
    this.#items[slot] = item;
    return slot;
  }

  get(slot: number): Item | undefined {
    return this.#items[slot];
  }

  /** Removes the item at an index; does nothing for a free index. */
  remove(slot: number): void {
    if (this.#items[slot] === undefined) return;
    this.#items[slot] = undefined;
    this.#free.push(slot);
  }

  /** Iterates by index; items that are added or removed during the iteration may be skipped. */
  *[Symbol.iterator](): Generator<Item> {
    for (const item of this.#items) if (item !== undefined) yield item;
  }
}
