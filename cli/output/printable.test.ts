import { describe, expect, it } from '@jest/globals';
import { toPrintable } from './printable.ts';

describe('toPrintable', () => {
  it('escapes terminal control characters and leaves other text unchanged', () => {
    expect(toPrintable('\u001b[2Jhid\u009b8m\r\u007f\u202eden\u2069')).toBe(
      '\\u001b[2Jhid\\u009b8m\\u000d\\u007f\\u202eden\\u2069',
    );
    expect(toPrintable('Zeile 1\n\tÄöü 漢字 😀 שלום')).toBe('Zeile 1\n\tÄöü 漢字 😀 שלום');
  });

  it('does not change the parsed value of a JSON text', () => {
    const value = { text: 'a\u0000\u001b\u0085\u202e"\\' };
    expect(JSON.parse(toPrintable(JSON.stringify(value)))).toEqual(value);
  });
});
