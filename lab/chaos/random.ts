/** Seeded random numbers, so that a run can be repeated. */
export interface Random {
  /** Returns an integer from 0 to `end` - 1. */
  below(end: number): number;
  pick<T>(items: readonly T[]): T;
  /** Returns a separate sequence that does not depend on how many numbers of this one were used. */
  fork(name: string): Random;
}

/** Mulberry32. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const below = (end: number): number => Math.floor(next() * end);
  return {
    below,
    pick: (items) => {
      const item = items[below(items.length)];
      if (item === undefined) throw new Error('nothing to pick from');
      return item;
    },
    fork: (name) =>
      createRandom(Buffer.from(name).reduce((hash, byte) => Math.imul(hash ^ byte, 16_777_619), seed >>> 0)),
  };
}
