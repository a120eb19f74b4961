/**
 * A collection for what comes and goes thousands of times a second. A `Set` or `Map` that lives long and is used so keeps what has left it: V8 renews its
 * table again and again, and a table that was given up still names what was in it and the next one, so that all of these grow old with it and wait
 * for a collection of the whole heap (docs/performance-notes.md#slab-for-in-flight-requests).
 */
export class Slab<Item> {
  readonly #items: (Item | undefined)[] = [];
  readonly #free: number[] = [];

  get size(): number {
    return this.#items.length - this.#free.length;
  }

  /** Where the next one will be. */
  get nextIndex(): number {
    return this.#free.at(-1) ?? this.#items.length;
  }

  /** @returns its place, until it is removed; then somebody else's */
  add(item: Item): number {
    const place = this.#free.pop() ?? this.#items.length;
    this.#items[place] = item;
    return place;
  }

  get(place: number): Item | undefined {
    return this.#items[place];
  }

  /** Nothing happens where nothing is. */
  remove(place: number): void {
    if (this.#items[place] === undefined) return;
    this.#items[place] = undefined;
    this.#free.push(place);
  }

  /** In the order of their places; what is added or removed meanwhile may be left out. */
  *[Symbol.iterator](): Generator<Item> {
    for (const item of this.#items) if (item !== undefined) yield item;
  }
}
