import { describe, expect, it } from '@jest/globals';
import type { Entry, Outcome } from '../history.ts';
import { checkEffects } from './effects.ts';

const ask = (key: string, outcome: Outcome, object = 'booking'): Entry => ({
  id: 1,
  kind: 'webhook',
  object,
  input: { do: 'effect', key },
  outcome,
  from: 0,
  to: 1,
  answer: '',
});
const checkHistory = (entries: readonly Entry[], found: readonly string[]) =>
  checkEffects('booking', entries, found).map(({ what, key }) => `${what} ${key}`);

describe('checkEffects', () => {
  it('accepts one effect per acknowledged request and at most one per unanswered request', () => {
    expect(
      checkHistory([ask('a', 'done'), ask('b', 'unknown'), ask('c', 'unknown'), ask('d', 'refused')], ['a', 'b']),
    ).toEqual([]);
  });

  it('reports effects that are lost, duplicated or were never requested', () => {
    const entries = [
      ask('a', 'unknown'),
      ask('a', 'done'),
      ask('b', 'done'),
      ask('c', 'unknown'),
      ask('d', 'refused'),
      ask('x', 'done', 'other'),
    ];
    expect(checkHistory(entries, ['b', 'b', 'c', 'c', 'd', 'z'])).toEqual([
      'lost a',
      'doubled b',
      'doubled c',
      'invented d',
      'invented z',
    ]);
  });

  it('reports each effect with the requests that caused it', () => {
    const entries = [ask('a', 'unknown'), ask('a', 'done'), ask('b', 'done')];
    expect(checkEffects('booking', entries, ['b'])[0]?.entries).toEqual(entries.slice(0, 2));
  });
});
