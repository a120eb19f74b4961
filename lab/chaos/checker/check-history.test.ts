/** The checker must find every type of violation in a history that contains each of them (lab/chaos). */
import { describe, expect, it } from '@jest/globals';
import type { Entry, Input, Outcome } from '../history.ts';
import { describeProblem, checkHistory } from './check-history.ts';

let time = 0;
const entry = (object: string, input: Input, output?: unknown, outcome: Outcome = 'done'): Entry => {
  time += 10;
  return {
    id: time / 10,
    kind: 'x',
    object,
    input,
    outcome,
    from: time,
    to: time + 1,
    answer: '200',
    ...(output === undefined ? {} : { output }),
  };
};
const read = { do: 'read' } as const;
const find = { do: 'find' } as const;
const write = (value: string): Input => ({ do: 'write', value });
const count = (key: string): Input => ({ do: 'count', key });
const effect = (key: string): Input => ({ do: 'effect', key });
const nothing = { effects: {}, leftovers: [] };

const right = (): Entry[] => [
  entry('register a of 1', write('a')),
  entry('register a of 1', write('b'), undefined, 'unknown'),
  entry('register a of 1', read, 'b'),
  entry('singleton a of 2', find, 7),
  entry('singleton a of 2', find, 7),
  entry('counter a of 3', count('k'), undefined, 'unknown'),
  entry('counter a of 3', count('k'), 1),
  entry('booking', effect('one')),
];

describe('checkHistory', () => {
  it('accepts histories with unknown outcomes: retryable rejections and missing responses', () => {
    expect(checkHistory(right(), { effects: { booking: ['one'] }, leftovers: [] })).toEqual([]);
  });

  it.each<[string, () => Entry[]]>([
    ['lost: register a of 1', () => [entry('register a of 1', read, 'a')]],
    ['lost: counter a of 3', () => [entry('counter a of 3', read, 0)]],
    ['doubled: counter a of 3', () => [entry('counter a of 3', read, 2)]],
    ['doubled: singleton a of 2', () => [entry('singleton a of 2', find, 8)]],
    ['wrong: refused: x of booking', () => [entry('booking', effect('one'), undefined, 'refused')]],
    [
      'wrong: answered with an error: x of booking',
      () => [{ ...entry('booking', effect('one'), undefined, 'unknown'), answer: '500 {}' }],
    ],
  ])('detects %s, and reports at most three requests as evidence', (text, more) => {
    const [problem, ...others] = checkHistory([...right(), ...more()], nothing);
    if (problem === undefined) throw new Error('nothing was found');
    const [first = '', ...shown] = describeProblem(problem).split('\n');
    expect([first.startsWith(text), shown.length <= 4, others]).toEqual([true, true, []]);
  });

  it('accepts effects of requests that returned a retryable error or no response', () => {
    const told = ['503 {"status":503}', 'fetch failed: other side closed'];
    const some = told.map((answer) => ({ ...entry('booking', effect('one'), undefined, 'unknown'), answer }));
    expect(checkHistory([...right(), ...some], nothing)).toEqual([]);
  });

  it('detects an attendee who was added to a wrong booking, and one who lost the seat', () => {
    const requested = ['Guest seats-1 stays', 'Guest seats-2 stays'].map((key) => entry('seat', effect(key)));
    const effects = { booking: ['one'], seat: ['Guest seats-1 stays', 'Guest seats-1 stays in seats-2'] };
    expect(
      checkHistory([...right(), ...requested], { effects, leftovers: [] }).map(({ what, text }) => `${what}: ${text}`),
    ).toEqual([
      'lost: seat Guest seats-2 stays was lost',
      'wrong: seat Guest seats-1 stays in seats-2 was made, though nobody was told so',
    ]);
  });

  it('detects lost and duplicated effects, and leftover work', () => {
    const leftovers = ['media: upload running'];
    const found = checkHistory([...right(), entry('booking', effect('two'))], {
      effects: { booking: ['one', 'one'] },
      leftovers,
    });
    expect(found.map(({ what, text }) => `${what}: ${text}`)).toEqual([
      'doubled: booking one was doubled',
      'lost: booking two was lost',
      'wrong: media: upload running',
    ]);
  });
});
