import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { cutAfter, cutAround, cutBefore } from './excerpt.ts';
import { findHighlights, parseQuery } from './query.ts';

const family = '👨‍👩‍👧‍👦';
const find = (text: string, q: string): [number, number][] => findHighlights(parseQuery(q), text) ?? [];

describe('excerpts of long texts (D91)', () => {
  it('returns a match of 2000 units, and neighbouring texts of 300 units, in full', () => {
    const text = `word ${'x'.repeat(1_995)}`;
    expect(cutAround(text, [[0, 4]])).toEqual({ text, highlights: [[0, 4]] });
    expect([cutBefore('b'.repeat(300)), cutAfter('a'.repeat(300))]).toEqual(['b'.repeat(300), 'a'.repeat(300)]);
  });

  it.each([
    ['the beginning', 0],
    ['the middle', 40_000],
    ['the end', 80_000],
  ])('returns an excerpt around a match at %s, with an adjusted highlight', (_what, place) => {
    const text = `${'lorem '.repeat(place / 5)}needle${' ipsum'.repeat((80_000 - place) / 5)}`;
    const cut = cutAround(text, find(text, 'needle'));
    expect(cut.text.length).toBeLessThanOrEqual(2_000);
    expect(cut.text.length).toBeGreaterThan(1_990);
    expect(text).toContain(cut.text);
    expect(cut.highlights.map(([from, to]) => cut.text.slice(from, to))).toEqual(['needle']);
  });

  it('selects the excerpt with the most query words', () => {
    const far = ' filler'.repeat(1_000);
    const text = `red${far} red and blue${far} blue`;
    const cut = cutAround(text, find(text, 'red blue'));
    expect(cut.highlights.map(([from, to]) => cut.text.slice(from, to))).toEqual(['red', 'blue']);
  });

  it('highlights the visible part of a word that is longer than an excerpt', () => {
    const word = 'x'.repeat(5_000);
    expect(cutAround(`a ${word} b`, find(`a ${word} b`, word.slice(0, 100)))).toEqual({
      text: 'x'.repeat(2_000),
      highlights: [[0, 2_000]],
    });
  });

  it('returns the end of the previous text and the start of the following text', () => {
    const text = Array.from({ length: 1_000 }, (_, index) => index).join(' ');
    expect(text.endsWith(cutBefore(text))).toBe(true);
    expect(text.startsWith(cutAfter(text))).toBe(true);
    expect([cutBefore(text).length, cutAfter(text).length]).toEqual([300, 300]);
  });

  it('splits excerpts only between graphemes, at any position', () => {
    const sign = fc.constantFrom('a', ' ', 'é', 'e\u0301', '😀', family, '🇩🇪', 'กำ', '\r\n');
    const text = fc.array(sign, { minLength: 300, maxLength: 1_500 }).map((signs) => signs.join(''));
    const isWhole = (part: string, whole: string, at: number): boolean => {
      const edges = new Set([...new Intl.Segmenter().segment(whole)].map(({ index }) => index).concat(whole.length));
      return edges.has(at) && edges.has(at + part.length);
    };
    fc.assert(
      fc.property(text, text, (left, right) => {
        const whole = `${left} needle ${right}`;
        const cut = cutAround(whole, find(whole, 'needle'));
        const [range] = cut.highlights;
        expect(cut.text.slice(...(range ?? [0, 0]))).toBe('needle');
        expect(isWhole(cut.text, whole, whole.indexOf('needle') - (range?.[0] ?? 0))).toBe(true);
        expect(isWhole(cutBefore(left), left, left.length - cutBefore(left).length)).toBe(true);
        expect(isWhole(cutAfter(right), right, 0)).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  it('splits an endless grapheme between code points without scanning all of it', () => {
    const text = `needle ${`\u0301😀`.repeat(3).padEnd(400_000, '\u200d😀')}`;
    const startedAt = performance.now();
    const cut = cutAround(text, [[0, 6]]);
    expect(cut.text.isWellFormed()).toBe(true);
    expect(cut.text.length).toBeGreaterThan(1_800);
    expect([cutAfter(text).isWellFormed(), cutBefore(text).isWellFormed()]).toEqual([true, true]);
    expect(performance.now() - startedAt).toBeLessThan(10_000); // Scanning the text again for each excerpt would take far longer.
  });
});
