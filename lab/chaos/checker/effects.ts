/** Checks deferred effects: exactly one per acknowledged key, at most one for every other key. */
import type { Entry } from '../history.ts';

export interface EffectProblem {
  readonly what: 'lost' | 'doubled' | 'invented';
  readonly object: string;
  readonly key: string;
  /** Requests that trigger the effect. */
  readonly entries: readonly Entry[];
}

/**
 * @param found keys of the existing effects, one per effect @param object e.g. `booking`, the object of the requests
 */
export function checkEffects(object: string, entries: readonly Entry[], found: readonly string[]): EffectProblem[] {
  const requests = Map.groupBy(
    entries.filter((entry) => entry.object === object && entry.input.do === 'effect'),
    ({ input }) => ('key' in input ? input.key : ''),
  );
  const counts = new Map([...Map.groupBy(found, (key) => key)].map(([key, some]) => [key, some.length]));
  return [...new Set([...requests.keys(), ...counts.keys()])].flatMap((key) => {
    const [requested, count] = [requests.get(key) ?? [], counts.get(key) ?? 0];
    const what = checkHistory(requested, count);
    return what === undefined ? [] : [{ what, object, key, entries: requested }];
  });
}

function checkHistory(requested: readonly Entry[], count: number): EffectProblem['what'] | undefined {
  if (requested.every(({ outcome }) => outcome === 'refused')) return count > 0 ? 'invented' : undefined;
  if (count > 1) return 'doubled';
  return count === 0 && requested.some(({ outcome }) => outcome === 'done') ? 'lost' : undefined;
}
