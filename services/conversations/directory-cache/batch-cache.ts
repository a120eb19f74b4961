/**
 * Cache with a maximum size in front of a batch look-up. Hits return without waiting; concurrent misses share one
 * look-up. Entries that are invalidated during a look-up are not cached, and later callers do not receive them.
 */

export interface BatchCacheOptions<Value> {
  /** Loads the values of existing ids. Unknown ids are missing from the result and not cached. */
  readonly load: (ids: readonly number[]) => Promise<Map<number, Value>>;
  /**
   * Maximum number of entries. A full cache evicts the oldest entry that was not read since it was added or last
   * spared.
   */
  readonly capacity: number;
  /** Milliseconds until an entry is reloaded, in case an invalidation was missed. */
  readonly ttlMs: number;
  /** Called for every evicted entry. */
  readonly onEvict?: (value: Value) => void;
  /** Returns monotonic milliseconds; replaced in tests. */
  readonly now?: () => number;
}

interface Entry<Value> {
  readonly value: Value;
  readonly expiresAt: number;
  /**
   * True when the entry was read since it was added or last spared. A read only sets this flag, because moving entries
   * would make a large map rebuild itself.
   */
  used: boolean;
}

export class BatchCache<Value> {
  readonly #options: BatchCacheOptions<Value>;
  readonly #now: () => number;
  readonly #entries = new Map<number, Entry<Value>>();
  readonly #pending = new Map<number, Promise<Map<number, Value>>>();

  constructor(options: BatchCacheOptions<Value>) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Returns the value if it is cached and fresh. */
  peek(id: number): Value | undefined {
    return this.#read(id, this.#now());
  }

  /**
   * Returns a function that returns the values of existing ids; see `getMany` for `cacheMisses`. @throws errors of
   * `load`
   */
  async lookUp(ids: readonly number[], cacheMisses = true): Promise<(id: number) => Value | undefined> {
    const found = await this.getMany(ids, cacheMisses);
    return (id) => found.get(id);
  }

  /**
   * Returns the values of the existing ids. Without `cacheMisses`, loaded values are not cached, so that a long list
   * does not evict entries that other callers use.
   * @throws errors of `load`
   */
  async getMany(ids: readonly number[], cacheMisses = true): Promise<Map<number, Value>> {
    const found = new Map<number, Value>();
    const now = this.#now();
    let loads: Set<Promise<Map<number, Value>>> | undefined;
    let missing: Set<number> | undefined;
    for (const id of ids) {
      if (found.has(id)) continue;
      const value = this.#read(id, now);
      if (value !== undefined) {
        found.set(id, value);
        continue;
      }
      const pending = this.#pending.get(id);
      if (pending === undefined) (missing ??= new Set()).add(id);
      else (loads ??= new Set()).add(pending);
    }
    if (missing !== undefined)
      (loads ??= new Set()).add(cacheMisses ? this.#fetch([...missing]) : this.#options.load([...missing]));
    if (loads === undefined) return found;
    const requested = new Set(ids);
    for (const loaded of await Promise.all(loads)) {
      for (const [id, value] of loaded) if (requested.has(id)) found.set(id, value);
    }
    return found;
  }

  #read(id: number, now: number): Value | undefined {
    const entry = this.#entries.get(id);
    if (entry === undefined) return undefined;
    if (entry.expiresAt > now) {
      entry.used = true;
      return entry.value;
    }
    this.#evict(id, entry);
    return undefined;
  }

  #put(id: number, value: Value): void {
    const old = this.#entries.get(id);
    if (old !== undefined) this.#evict(id, old);
    else if (this.#entries.size >= this.#options.capacity) this.#evictOne();
    this.#entries.set(id, { value, expiresAt: this.#now() + this.#options.ttlMs, used: false });
  }

  /**
   * Evicts one entry by second chance, starting with the oldest: an entry that was read is spared once and moved to the
   * end.
   */
  #evictOne(): void {
    for (const [id, entry] of this.#entries) {
      if (!entry.used) return this.#evict(id, entry);
      entry.used = false;
      this.#entries.delete(id);
      this.#entries.set(id, entry);
    }
  }

  /** Drops the entries of these ids, or all entries when `ids` is null. */
  invalidate(ids: readonly number[] | null): void {
    for (const id of ids ?? [...this.#entries.keys()]) {
      const entry = this.#entries.get(id);
      if (entry !== undefined) this.#evict(id, entry);
    }
    for (const id of ids ?? [...this.#pending.keys()]) this.#pending.delete(id);
  }

  async #fetch(ids: readonly number[]): Promise<Map<number, Value>> {
    const load = this.#options.load(ids);
    for (const id of ids) this.#pending.set(id, load);
    try {
      const loaded = await load;
      for (const [id, value] of loaded) if (this.#pending.get(id) === load) this.#put(id, value);
      return loaded;
    } finally {
      for (const id of ids) if (this.#pending.get(id) === load) this.#pending.delete(id);
    }
  }

  #evict(id: number, { value }: Entry<Value>): void {
    this.#entries.delete(id);
    this.#options.onEvict?.(value);
  }
}
