import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type JsonObject, mergePatch, parseJson } from './index.ts';

const json = (text: string): unknown => parseJson(text);

describe('mergePatch (RFC 7396; D16b)', () => {
  it.each([
    ['{"a":"b"}', '{"a":"c"}', '{"a":"c"}'],
    ['{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'],
    ['{"a":"b"}', '{"a":null}', '{}'],
    ['{"a":"b","b":"c"}', '{"a":null}', '{"b":"c"}'],
    ['{"a":["b"]}', '{"a":"c"}', '{"a":"c"}'],
    ['{"a":"c"}', '{"a":["b"]}', '{"a":["b"]}'],
    ['{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'],
    ['{"a":[{"b":"c"}]}', '{"a":[1]}', '{"a":[1]}'],
    ['{"e":null}', '{"a":1}', '{"e":null,"a":1}'],
    ['{}', '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'],
    ['{}', '{"a":[null,{"b":null}]}', '{"a":[null,{"b":null}]}'],
    ['{"a":[1,2]}', '{"a":{"b":"c","d":null}}', '{"a":{"b":"c"}}'],
    ['{"n":1}', '{"n":12345678901234567890}', '{"n":12345678901234567890}'],
    ['{"a":{"n":12345678901234567890}}', '{"a":{"m":1.10}}', '{"a":{"n":12345678901234567890,"m":1.10}}'],
  ])('patches %s with %s to %s', (target, patch, expected) => {
    expect(JSON.stringify(mergePatch(json(target), json(patch)))).toBe(expected);
  });

  it('merges the key __proto__ as data', () => {
    const merged = mergePatch(json('{"__proto__":{"a":1}}'), json('{"__proto__":{"b":2},"constructor":3}'));
    expect(JSON.stringify(merged)).toBe('{"__proto__":{"a":1,"b":2},"constructor":3}');
    expect(({} as Record<string, unknown>)['b']).toBeUndefined();
  });

  const document = fc.dictionary(fc.constantFrom('a', 'b', '__proto__'), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 3 });
  it('returns the same result when a patch is applied twice, and does not modify its arguments', () => {
    fc.assert(
      fc.property(document, document, (target, patch) => {
        const before = JSON.stringify([target, patch]);
        const once = mergePatch(target, patch);
        expect(mergePatch(once, patch)).toEqual(once);
        expect(JSON.stringify([target, patch])).toBe(before);
      }),
    );
  });

  it('preserves keys that are absent from the patch', () => {
    fc.assert(
      fc.property(document, document, (target, patch) => {
        const merged = mergePatch(target, patch) as JsonObject;
        for (const key of Object.keys(target)) if (!Object.hasOwn(patch, key)) expect(merged[key]).toBe(target[key]);
        for (const [key, value] of Object.entries(patch)) expect(Object.hasOwn(merged, key)).toBe(value !== null);
      }),
    );
  });
});
