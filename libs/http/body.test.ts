import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { exceedsDepth } from './body.ts';

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

describe('exceedsDepth (spec 03 §1, JSON body cap)', () => {
  it('counts as the parsed document nests, whatever its strings hold', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6, stringUnit: 'binary' }), fc.integer({ min: 1, max: 6 }), (value, max) => {
        expect(exceedsDepth(Buffer.from(JSON.stringify(value)), max)).toBe(depthOf(value) > max);
      }),
    );
  });

  it.each([
    ['["[[[["]', false],
    [String.raw`["\"[[[["]`, false],
    [String.raw`["\\",[[]]]`, true],
    ['[[[', true],
    ['"unclosed [[[', false],
    ['', false],
  ])('reads %s', (text, exceeded) => {
    expect(exceedsDepth(Buffer.from(text), 2)).toBe(exceeded);
  });
});
