import { describe, expect, it } from '@jest/globals';
import { hasControls, linePattern, toLine, toLines } from '#libs/text';

const codes = Array.from({ length: 0x10_000 }, (_value, code) => code);
const isControl = (code: number): boolean => code < 0x20 || (code >= 0x7f && code < 0xa0);

describe('control characters (D74)', () => {
  it('are C0, delete and C1 and nothing else, for the pattern and the functions alike', () => {
    const pattern = new RegExp(linePattern, 'u');
    const wrong = codes.filter((code) => {
      const text = `a${String.fromCharCode(code)}b`;
      return hasControls(text) !== isControl(code) || pattern.test(text) === isControl(code);
    });
    expect(wrong).toEqual([]);
  });

  it('toLine removes each, wherever it stands', () => {
    expect(toLine('\u0000A\r\nd\u0085a\u009f \u{1f600}\u007f')).toBe('Ada \u{1f600}');
    expect(toLine('A\ud800da')).toBe('A\ufffdda');
  });

  it('toLines keeps tabs and line breaks', () => {
    expect(toLines('one\u0000\r\n\ttwo\u0007\u009b3')).toBe('one\r\n\ttwo3');
  });
});
