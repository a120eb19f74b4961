import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { JsonObject } from '#libs/infrastructure/json';
import { applyPatch } from '../journeys/rules.ts';
import { changesOf, insertAt, refuseInUse, replacementPatch } from './rules.ts';

const merge = (target: JsonObject, patch: JsonObject): JsonObject => applyPatch(undefined, target, patch);

describe('replacementPatch (W16)', () => {
  const value = fc.letrec((tie) => ({
    value: fc.oneof(fc.string(), fc.array(fc.integer()), tie('object')),
    object: fc.dictionary(fc.constantFrom('a', 'b', 'c', '__proto__'), tie('value'), { maxKeys: 3 }),
  })).object as fc.Arbitrary<JsonObject>;

  it('returns a patch that turns a document into any other one', () => {
    fc.assert(
      fc.property(value, value, (old, next) => {
        expect(JSON.parse(JSON.stringify(merge(old, replacementPatch(old, next))))).toEqual(
          JSON.parse(JSON.stringify(next)),
        );
      }),
    );
  });

  it('removes a value that is null in the new document', () => {
    expect(merge({ a: 1, b: 2 }, replacementPatch({ a: 1, b: 2 }, { a: null, b: 3 }))).toEqual({ b: 3 });
  });
});

describe('insertAt (W16)', () => {
  it.each([
    [0, ['x', 'a', 'b']],
    [1, ['a', 'x', 'b']],
    [9, ['a', 'b', 'x']],
    [undefined, ['a', 'b', 'x']],
  ])('inserts at position %j', (position, expected) => {
    expect(insertAt(['a', 'b'], 'x', position)).toEqual(expected);
  });
});

describe('refuseInUse (W14)', () => {
  it('rejects with all counts when one is not 0', () => {
    expect(() => refuseInUse({ holons: 0 })).not.toThrow();
    expect(() => refuseInUse({ holons: 2, subclasses: 0 })).toThrow('holons 2');
  });
});

describe('changesOf (W12)', () => {
  it('returns changes of requested fields only, without the prefix of their names', () => {
    const all = { 'steps.a.title': { old: 1, new: 2 }, 'steps.b.title': { old: 1, new: 2 }, title: { old: 3, new: 4 } };
    expect(changesOf(all, { title: 'x', goal: 'y' }, 'steps.a.')).toEqual({ title: { old: 1, new: 2 } });
  });
});
