import { describe, expect, it } from '@jest/globals';
import { widthOf } from './width.ts';

describe('widthOf', () => {
  it.each([
    ['Zoë–', 4],
    ['e\u0301', 1],
    ['漢字かなカナ', 12],
    ['한글', 4],
    ['👩‍🚀 a', 4],
    ['🇳🇱', 2],
    ['Ａ', 2],
    ['שלום', 4],
  ])('returns the number of terminal columns of %s', (text, columns) => expect(widthOf(text)).toBe(columns));
});
