/** Sequential model of one object. A concurrent history is checked against the model. */
import type { Entry } from '../history.ts';

export interface Model {
  /** Initial state. States are strings, so that they can be compared. */
  readonly initial: string;
  /**
   * Returns the state after the operation, or undefined if the operation's answer is impossible in this state. The
   * answer is not checked when the outcome is unknown.
   */
  step(state: string, entry: Entry): string | undefined;
  /**
   * Returns sets of operations, each of which can be removed from a valid history without making it invalid. Used to
   * minimize an invalid history.
   */
  listRemovable(entries: readonly Entry[]): Entry[][];
}

const text = (value: unknown): string => JSON.stringify(value ?? null);
const isKnown = ({ outcome, output }: Entry): boolean => outcome === 'done' && output !== undefined;
const isRead = ({ input }: Entry): boolean => input.do === 'read';

/** Returns the value that the entry wrote or read. */
function valueOf(entry: Entry): string {
  return text(entry.input.do === 'write' ? entry.input.value : entry.output);
}

/** An object that stores the last write. The load writes every value only once. */
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

/** An object that the first request creates and that all requests return. */
export const singleton: Model = {
  initial: 'null',
  step: (state, entry) => {
    if (!isKnown(entry)) return state === 'null' ? unknownOutcome : state;
    const reply = text(entry.output);
    return state === 'null' || state === unknownOutcome || state === reply ? reply : undefined;
  },
  listRemovable: (entries) => entries.map((entry) => [entry]),
};

/** A counter of distinct keys; a repeated key counts once. */
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

/** Returns the model for the first word of an object name such as `register infos of 7`. */
export function modelOf(object: string): Model | undefined {
  const name = object.split(' ', 1)[0] ?? '';
  return Object.hasOwn(models, name) ? models[name as ModelName] : undefined;
}
