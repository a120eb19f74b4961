import { describe, expect, it } from '@jest/globals';
import { truncateText } from '#libs/text';

describe('a text that is cut', () => {
  it.each([
    ['short', 10, 'short'],
    ['a longer one', 5, 'a lon'],
    ['ab👩‍👩‍👧‍👦', 5, 'ab'],
    ['ab🇩🇪🇫🇷', 6, 'ab🇩🇪'],
    ['abe\u0301', 3, 'ab'],
    ['😀😀', 3, '😀'],
    ['😀', 1, ''],
    [`x${'\u0301'.repeat(500)}`, 300, `x${'\u0301'.repeat(299)}`],
  ])('keeps its graphemes whole: %j in %i', (text, length, kept) => expect(truncateText(text, length)).toBe(kept));
});
