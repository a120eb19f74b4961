import { describe, expect, it } from '@jest/globals';
import { diffPaths } from './index.ts';

describe('diffPaths (W24)', () => {
  it.each([
    ['equal values', { a: 1 }, { a: 1 }, []],
    ['a changed key', { a: 1, b: { c: 1 } }, { a: 1, b: { c: 2 } }, [['x', 'b', 'c']]],
    [
      'an added and a removed key',
      { a: 1 },
      { b: 1 },
      [
        ['x', 'a'],
        ['x', 'b'],
      ],
    ],
    ['a list as one value', { a: [1, { b: 1 }] }, { a: [1, { b: 2 }] }, [['x', 'a']]],
    ['a new object by its keys', null, { a: 1 }, [['x', 'a']]],
    ['an absent and an empty object', undefined, {}, []],
    ['a text in place of an object', { a: 1 }, 'a', [['x']]],
    ['texts', 'a', 'b', [['x']]],
  ])('returns the paths of %s', (_what, old, now, expected) => {
    expect(diffPaths(old, now, ['x'])).toEqual(expected);
  });
});
