/** Checks deferred effects. An acknowledged key must have exactly one effect, every other key at most one. */
import type { Entry } from '../history.ts';

export interface EffectProblem {
  readonly what: 'lost' | 'doubled' | 'invented';
  readonly object: string;
  readonly key: string;
  /** Requests that trigger the effect of this key. */
  readonly entries: readonly Entry[];
}

/**
 * Returns the keys with a wrong number of effects.
 * @param object object of the requests, e.g. `booking`
 * @param found keys of the existing effects, one entry per effect
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
