import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  findJsonProblem,
  isJsonObject,
  isRawNumber,
  listJsonProblems,
  maxJsonDepth,
  NumberExpansionError,
  parseJson,
  toStorableText,
} from './index.ts';

describe('parseJson (rules/http#numbers-and-keys)', () => {
  it.each([
    '12345678901234567890',
    '-9007199254740993',
    '1.0',
    '1e400',
    '0.1000',
    '1.10',
    '123456789012345678901234567890.5',
  ])('serialises the number %s unchanged', (source) => {
    expect(JSON.stringify(parseJson(`{"a":[${source}]}`))).toBe(`{"a":[${source}]}`);
  });

  it('parses numbers that a double can represent exactly to JavaScript numbers', () => {
    expect(parseJson('[9007199254740991,0.1,-5,12]')).toEqual([9_007_199_254_740_991, 0.1, -5, 12]);
  });

  it('treats __proto__ and constructor as plain data', () => {
    const parsed = parseJson('{"__proto__":{"admin":true},"constructor":1,"big":12345678901234567890}');
    expect(JSON.stringify(parsed)).toBe('{"__proto__":{"admin":true},"constructor":1,"big":12345678901234567890}');
    expect(({} as { admin?: boolean }).admin).toBeUndefined();
  });

  it('parses every document without large numbers like JSON.parse', () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
        const text = JSON.stringify(value);
        expect(JSON.stringify(parseJson(text))).toBe(text);
      }),
    );
  });

  it('serialises every document with large or unusual numbers unchanged, regardless of its strings', () => {
    const numbers = fc
      .constantFrom('1.0', '1e5', '-12345678901234567890', '0.10', '1.5', '7', '123456789.1234567890')
      .map((text) => ({ text }));
    const texts = fc
      .constantFrom('1e5', '"1.0"', String.raw`\\`, '{"a":1.0}', '-', '__proto__', '\u0000')
      .map((text) => ({ text: JSON.stringify(text) }));
    const tree = fc.letrec<{ node: { text: string } }>((tie) => ({
      node: fc.oneof(
        { maxDepth: 4 },
        numbers,
        texts,
        fc
          .array(tie('node'), { maxLength: 4 })
          .map((items) => ({ text: `[${items.map(({ text }) => text).join(',')}]` })),
        fc.uniqueArray(fc.tuple(texts, tie('node')), { maxLength: 4, selector: ([key]) => key.text }).map((fields) => ({
          text: `{${fields.map(([key, { text }]) => `${key.text}:${text}`).join(',')}}`,
        })),
      ),
    })).node;
    fc.assert(fc.property(tree, ({ text }) => expect(JSON.stringify(parseJson(text))).toBe(text)));
  });

  it('rejects the same documents as JSON.parse', () => {
    const refuses = (parse: (text: string) => unknown, text: string): boolean => {
      try {
        parse(text);
        return false;
      } catch {
        return true;
      }
    };
    const pieces = [
      '1.0',
      '1e5',
      '01.0',
      '1e',
      '-',
      '.',
      '"',
      '"a"',
      '\\',
      '[',
      ']',
      '{',
      '}',
      ':',
      ',',
      ' ',
      'true',
      '12345678901234567890',
    ];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 8 }), (parts) => {
        const text = parts.join('');
        expect([text, refuses(parseJson, text)]).toEqual([text, refuses(JSON.parse, text)]);
      }),
      { numRuns: 2_000 },
    );
    for (const text of ['{1e5:2}', '{"a":1,1e5 :2}', '[1e5true]', '[1.0.0]', '{"a":1234567890123456789', '"1e5']) {
      expect(() => parseJson(text)).toThrow(SyntaxError);
    }
  });
});

describe('parseJson of numbers with a short notation and a long expansion (rules/http#json-body-cap)', () => {
  const list = (count: number, number: string): string => `[${Array.from({ length: count }, () => number).join(',')}]`;

  it.each([
    [16_777, '1e1000'],
    [16_777, '1e-1000'],
    [167_772, '1e100'],
  ])('reads %i times %s', (count, number) => {
    expect(JSON.stringify(parseJson(list(count, number)))).toBe(list(count, number));
  });

  it.each([
    [16_778, '1e1000'],
    [16_778, '1E+999999'],
    [16_778, '1e-1000'],
    [167_773, '1e100'],
  ])('rejects %i times %s', (count, number) => {
    expect(() => parseJson(list(count, number))).toThrow(NumberExpansionError);
  });

  it('throws a SyntaxError for numbers with a long expansion unless the caller requests the reason', () => {
    expect(() => parseJson(list(16_778, '1e1000'))).toThrow(SyntaxError);
  });

  it('does not change texts that contain numbers', () => {
    const texts = [list(20_000, '1e1000'), '1.0'];
    expect(parseJson(JSON.stringify(texts))).toEqual(texts);
  });
});

describe('findJsonProblem (rules/http#json-body-cap, rules/http#strings)', () => {
  const nested = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels));

  it('accepts 64 levels of nesting and rejects 65', () => {
    expect(findJsonProblem(nested(maxJsonDepth))).toBeUndefined();
    expect(findJsonProblem(nested(maxJsonDepth + 1))?.kind).toBe('depth');
  });

  it('reports the path of a null character in a value and in a key', () => {
    expect(findJsonProblem({ a: [{ b: 'x\u0000' }] })).toEqual({ path: ['a', 0, 'b'], kind: 'null_character' });
    expect(findJsonProblem({ 'a\u0000': 1 })).toEqual({ path: ['a\u0000'], kind: 'null_character' });
  });

  it('reports the path of a lone surrogate, and accepts a surrogate pair', () => {
    expect(findJsonProblem({ a: '\ud800' })).toEqual({ path: ['a'], kind: 'lone_surrogate' });
    expect(findJsonProblem({ a: '\ud83d\ude00' })).toBeUndefined();
  });

  it('rejects numbers that the database cannot store', () => {
    expect(findJsonProblem(parseJson('{"a":1e99999}'))?.kind).toBe('number_range');
    expect(findJsonProblem(parseJson(`{"a":${'9'.repeat(1001)}}`))?.kind).toBe('number_range');
    expect(findJsonProblem(parseJson(`{"a":${'9'.repeat(1000)}}`))).toBeUndefined();
  });
});

describe('toStorableText', () => {
  it('removes only U+0000 and unpaired surrogates', () => {
    expect(toStorableText('a\0b\ud83dc\udc00 😀\u0001\n')).toBe('abc 😀\u0001\n');
  });
});

describe('listJsonProblems (D60)', () => {
  it('stops at the requested number of problems', () => {
    const document = Array.from({ length: 100 }, () => '\u0000');
    expect(listJsonProblems(document, 50)).toHaveLength(50);
    expect(listJsonProblems(document, 100).at(-1)).toEqual({ path: [99], kind: 'null_character' });
  });
});

describe('isJsonObject', () => {
  it('returns true for objects only', () => {
    expect([{}, [], null, 1, 'a', parseJson('12345678901234567890')].map(isJsonObject)).toEqual([
      true,
      false,
      false,
      false,
      false,
      false,
    ]);
    expect(isRawNumber(parseJson('12345678901234567890'))).toBe(true);
  });
});
