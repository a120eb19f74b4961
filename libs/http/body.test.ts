import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { countValues } from './body.ts';

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

describe('countValues (spec 03 §1, JSON body cap)', () => {
  it('counts as the parsed document nests, whatever its strings hold', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6, stringUnit: 'binary' }), fc.integer({ min: 1, max: 6 }), (value, max) => {
        expect(countValues(Buffer.from(JSON.stringify(value)), max) === undefined).toBe(depthOf(value) > max);
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
    expect(countValues(Buffer.from(text), 2) === undefined).toBe(exceeded);
  });

  it.each([
    ['1', 1],
    ['[]', 2],
    ['[1,2,3]', 4],
    ['{"a,[":{"b":1}}', 3],
  ])('counts no fewer values than %s has', (text, count) => {
    expect(countValues(Buffer.from(text), 64)).toBe(count);
  });
});
