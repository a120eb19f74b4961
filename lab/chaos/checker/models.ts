/** Sequential model of one object, against which a concurrent history is checked. */
import type { Entry } from '../history.ts';

export interface Model {
  /** States are strings, so that they can be compared. */
  readonly initial: string;
  /**
   * State after the operation; undefined if its answer is impossible in this state. Operations with unknown outcome
   * have no answer to check.
   */
  step(state: string, entry: Entry): string | undefined;
  /**
   * Sets of operations that can be removed from a valid history without making it invalid. Used to minimize an invalid
   * history.
   */
  listRemovable(entries: readonly Entry[]): Entry[][];
}

const text = (value: unknown): string => JSON.stringify(value ?? null);
const isKnown = ({ outcome, output }: Entry): boolean => outcome === 'done' && output !== undefined;
const isRead = ({ input }: Entry): boolean => input.do === 'read';

/** Value written or read. */
function valueOf(entry: Entry): string {
  return text(entry.input.do === 'write' ? entry.input.value : entry.output);
}

/** Stores the last write; every value is written once. */
export const register: Model = {
  initial: 'null',
  step: (state, entry) => {
    if (entry.input.do === 'write')
      return isKnown(entry) && text(entry.output) !== valueOf(entry) ? undefined : valueOf(entry);
    return !isKnown(entry) || text(entry.output) === state ? state : undefined;
  },
  listRemovable: (entries) => [
    ...Map.groupBy(entries, valueOf).values(),
    ...entries.filter(isRead).map((entry) => [entry]),
  ],
};

const unknownOutcome = '?';

/** Created by the first request; all requests return the same object. */
export const singleton: Model = {
  initial: 'null',
  step: (state, entry) => {
    if (!isKnown(entry)) return state === 'null' ? unknownOutcome : state;
    const reply = text(entry.output);
    return state === 'null' || state === unknownOutcome || state === reply ? reply : undefined;
  },
  listRemovable: (entries) => entries.map((entry) => [entry]),
};

/** Counts distinct keys; repeated keys count once. */
export const keyedCounter: Model = {
  initial: '[]',
  step: (state, entry) => {
    const keys = JSON.parse(state) as string[];
    const { input } = entry;
    const next = input.do === 'count' && !keys.includes(input.key) ? [...keys, input.key].toSorted() : keys;
    return isKnown(entry) && entry.output !== next.length ? undefined : text(next);
  },
  listRemovable: (entries) => entries.filter(isRead).map((entry) => [entry]),
};

const models = { register, singleton, counter: keyedCounter } as const;
export type ModelName = keyof typeof models;

/** Selects the model by the first word of the object's name: `register infos of 7`. */
export function modelOf(object: string): Model | undefined {
  const name = object.split(' ', 1)[0] ?? '';
  return Object.hasOwn(models, name) ? models[name as ModelName] : undefined;
}
