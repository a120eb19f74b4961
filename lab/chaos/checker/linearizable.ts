/**
 * Checks whether a concurrent history of one object is linearizable (Wing and Gong, with Lowe's cache of states). An
 * operation with unknown outcome can take effect at any time after its request, or never.
 */
import type { Entry } from '../history.ts';
import type { Model } from './models.ts';

export type Verdict =
  | { readonly is: 'linearizable' }
  /** `shortest` is a minimal invalid history: without any one of its entries it would be valid. */
  | { readonly is: 'wrong'; readonly shortest: readonly Entry[] }
  /** The search limit was reached before an order was found or excluded. */
  | { readonly is: 'undecided' };

/** Maximum number of search steps; a history of sequential clients needs a few thousand. */
const maxSteps = 2_000_000;

/** @param entries of one object, in any order */
export function checkObject(model: Model, entries: readonly Entry[]): Verdict {
  const found = search(model, entries);
  if (found === undefined) return { is: 'undecided' };
  return found ? { is: 'linearizable' } : { is: 'wrong', shortest: shorten(model, entries) };
}

interface ListedEntry {
  readonly state: string;
  /** Bit set of the operations that are already ordered. */
  readonly listed: bigint;
}

/** Returns true when a valid order exists. @returns undefined if the search limit was reached */
function search(model: Model, entries: readonly Entry[]): boolean | undefined {
  const operations = prepare(entries);
  const certain = operations.reduce(
    (bits, entry, index) => (entry.outcome === 'done' ? bits | (1n << BigInt(index)) : bits),
    0n,
  );
  const seen = new Set<string>();
  const stack: ListedEntry[] = [{ state: model.initial, listed: 0n }];
  for (let steps = 0; stack.length > 0; steps++) {
    if (steps > maxSteps) return undefined;
    const { state, listed } = stack.pop() as ListedEntry;
    if ((listed & certain) === certain) return true;
    for (const [index, entry] of listCandidates(operations, listed)) {
      const next = model.step(state, entry);
      // An operation with an unknown outcome that does not change the state can be ordered last, so it is skipped here.
      if (next === undefined || (next === state && entry.outcome === 'unknown')) continue;
      const node = { state: next, listed: listed | (1n << BigInt(index)) };
      const key = `${node.listed.toString(36)} ${next}`;
      if (seen.has(key)) continue;
      seen.add(key);
      stack.push(node);
    }
  }
  return false;
}

/**
 * Removes entries that contain no information and would make the search long: rejections, reads without an answer, and
 * writes with an unknown outcome whose value was never read.
 */
function prepare(entries: readonly Entry[]): Entry[] {
  const visible = new Set(
    entries.filter(({ output }) => output !== undefined).map(({ output }) => JSON.stringify(output)),
  );
  const isInformative = ({ outcome, input }: Entry): boolean => {
    if (outcome !== 'unknown') return outcome === 'done';
    return input.do === 'write' ? visible.has(JSON.stringify(input.value)) : input.do !== 'read';
  };
  return entries.filter(isInformative).toSorted((one, other) => one.from - other.from);
}

/**
 * Returns the operations that can be next, which are those requested before any unordered operation was answered. The
 * operation that was answered first is tried first.
 */
function listCandidates(operations: readonly Entry[], listed: bigint): [number, Entry][] {
  const found: [number, Entry][] = [];
  let earliest = Infinity;
  for (const [index, entry] of operations.entries()) {
    if (entry.from > earliest) break;
    if (((listed >> BigInt(index)) & 1n) === 1n) continue;
    found.push([index, entry]);
    if (entry.outcome === 'done') earliest = Math.min(earliest, entry.to);
  }
  return found.toSorted(([, one], [, other]) => endOf(other) - endOf(one));
}

const endOf = ({ outcome, to }: Entry): number => (outcome === 'done' ? to : Number.MAX_VALUE);

/** Returns the history up to the first wrong answer, reduced to the entries that prove it wrong. */
function shorten(model: Model, entries: readonly Entry[]): Entry[] {
  const isWrong = (some: readonly Entry[]): boolean => search(model, some) === false;
  const ends = entries.filter(({ outcome }) => outcome === 'done').map(({ to }) => to);
  let [right, wrong] = [-1, ends.length - 1];
  const sorted = ends.toSorted((one, other) => one - other);
  while (wrong - right > 1) {
    const middle = Math.floor((right + wrong) / 2);
    if (isWrong(cutAfter(entries, sorted[middle] ?? 0))) wrong = middle;
    else right = middle;
  }
  let left = cutAfter(entries, sorted[wrong] ?? Infinity);
  for (const set of model.listRemovable(left)) {
    const without = left.filter((entry) => !set.includes(entry));
    if (without.length < left.length && isWrong(without)) left = without;
  }
  return prepare(left);
}

/** Returns the history as it was known at this time: operations that were answered later have an unknown outcome. */
function cutAfter(entries: readonly Entry[], time: number): Entry[] {
  return entries
    .filter(({ from }) => from <= time)
    .map((entry) => {
      if (entry.to <= time || entry.outcome !== 'done') return entry;
      const { output: _, ...requested } = entry;
      return { ...requested, outcome: 'unknown', answer: 'not answered yet' };
    });
}
