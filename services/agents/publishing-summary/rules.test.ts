import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { estimateTokens } from '../model-text.ts';
import { groupByTokens, splitByTokens } from './rules.ts';

describe('splitByTokens (publishing_summary: long transcripts are summarised in parts)', () => {
  it('never splits a line that fits, and the parts joined are the whole text', () => {
    const lines = Array.from({ length: 40 }, (_, index) => `a line of some words number ${index}\n`);
    const parts = splitByTokens(lines.join(''), 60);
    expect(parts.length).toBeGreaterThan(5);
    expect(parts.join('')).toBe(lines.join(''));
    for (const part of parts) expect(part.endsWith('\n')).toBe(true);
  });

  it('preserves the whole text, in parts within the budget, for any text', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 2_000 }),
        fc.integer({ min: 20, max: 300 }),
        (text, budget) => {
          const parts = splitByTokens(text, budget);
          expect(parts.join('')).toBe(text);
          for (const part of parts) expect(estimateTokens(part)).toBeLessThanOrEqual(budget);
          if (text.isWellFormed()) expect(parts.every((part) => part.isWellFormed())).toBe(true);
        },
      ),
    );
  });

  it('splits a long line only between characters', () => {
    const speech = '😀'.repeat(400);
    for (const budget of [20, 21, 22, 23, 24]) {
      const parts = splitByTokens(speech, budget);
      expect([parts.join(''), parts.every((part) => part.isWellFormed())]).toEqual([speech, true]);
    }
  });
});

describe('groupByTokens', () => {
  it('groups texts in order, into fewer groups than texts', () => {
    const text = fc.string({ maxLength: 400 });
    fc.assert(
      fc.property(fc.array(text, { maxLength: 30 }), fc.integer({ min: 20, max: 300 }), (texts, budget) => {
        const groups = groupByTokens(texts, budget);
        expect(groups.flat()).toEqual(texts);
        if (texts.length > 1) expect(groups.length).toBeLessThan(texts.length);
      }),
    );
  });
});
