import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { invisibleCharacters } from '#libs/infrastructure/text';
import { listWords, toTsvector } from './words.ts';

const codes = Array.from({ length: 0x1_0000 }, (_value, code) => String.fromCharCode(code));
const invisibleInWords = codes.filter((sign) => new RegExp(`[${invisibleCharacters}]`).test(sign));
const words = (text: string): string[] => listWords(text).map(({ word }) => word);

describe('words of a text (T2, T6)', () => {
  it.each([
    ['Welcome, everyone!', ['welcome', 'everyone']],
    ['Größe GRÖSSE grösse', ['grosse', 'grosse', 'grosse']],
    ['L’été à Orléans, l\u2019e\u0301te\u0301', ['l', 'ete', 'a', 'orleans', 'l', 'ete']],
    ['¿Mañana? El niño', ['manana', 'el', 'nino']],
    ['Œuvre Æther Łódź Søren', ['oeuvre', 'aether', 'lodz', 'soren']],
    ['ΣΊΣΥΦΟΣ σίσυφος', ['σισυφοσ', 'σισυφοσ']],
    ["well-known e.g. and/or don't 3.5 %", ['well', 'known', 'e', 'g', 'and', 'or', 'don', 't', '3', '5']],
    ['dʼUnger d’Unger d‘Unger ʻokina', ['d', 'unger', 'd', 'unger', 'd', 'unger', 'okina']],
    ['Haus\u00adhalt ﬁne ①', ['haushalt', 'fine']],
    ['zero\u200bwidth \ufeffmark\u2060ed \u200eleft\u202eright\u2066', ['zerowidth', 'marked', 'leftright']],
    ['東京で会う tomorrow', ['東', '京', 'で', '会', 'う', 'tomorrow']],
    ['שָׁלוֹם', ['שלום']],
    ['हिन्दी', ['हिन्दी'.normalize('NFKD')]],
    [' -- “” 👍 ', []],
  ])('splits %j into the words %j', (text, expected) => {
    expect(words(text).slice(0, expected.length)).toEqual(expected);
  });

  it('does not split words at invisible characters of any kind', () => {
    expect(invisibleInWords.length).toBeGreaterThan(25);
    expect(invisibleInWords.filter((sign) => words(`one${sign}two`).join(' ') !== 'onetwo')).toEqual([]);
  });

  it('returns the positions of words in the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        let end = 0;
        for (const { word, from, to } of listWords(text)) {
          expect(from).toBeGreaterThanOrEqual(end);
          expect(to).toBeGreaterThan(from);
          expect(words(text.slice(from, to))).toEqual([word]);
          expect(word).toMatch(/^[\p{L}\p{N}\p{M}]{1,100}$/u);
          end = to;
        }
      }),
    );
  });

  it('creates a vector with word positions within the limits of PostgreSQL', () => {
    expect(toTsvector('One two, one.')).toBe(`'one':1,3 'two':2`);
    expect(toTsvector('?')).toBe('');
    expect(toTsvector('a '.repeat(1_000)).split(',')).toHaveLength(255);
  });

  it('splits a text of a million characters in linear time', () => {
    expect(toTsvector('ä'.repeat(1_000_000)).length).toBeLessThan(120);
    expect(toTsvector('a\u0301\u0302'.repeat(400_000)).length).toBeLessThan(120);
  });
});
