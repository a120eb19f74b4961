import { describe, expect, it } from '@jest/globals';
import {
  hasControlCharacters,
  isBlank,
  isSingleLine,
  linePattern,
  toSingleLine,
  toMultiline,
  removeControlCharacters,
  truncateText,
} from '#libs/infrastructure/text';

const codes = Array.from({ length: 0x11_0000 }, (_value, code) => code).filter(
  (code) => code < 0xd800 || code > 0xdfff,
);
const isControl = (code: number): boolean => code < 0x20 || (code >= 0x7f && code < 0xa0);
const joiners: readonly number[] = [0x200c, 0x200d];
const isUnfit = (code: number): boolean =>
  /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(String.fromCodePoint(code)) && !joiners.includes(code);

describe('names, titles and slugs (D74)', () => {
  it('rejects names, titles and slugs with control and formatting characters', () => {
    const wrong = codes.filter((code) => isSingleLine(`a${String.fromCodePoint(code)}b`) === isUnfit(code));
    expect(wrong).toEqual([]);
    expect(codes.filter((code) => hasControlCharacters(String.fromCodePoint(code)) !== isControl(code))).toEqual([]);
  });

  it.each(['', 'u'])(
    'accepts and rejects the same characters as the documented pattern in the basic plane, with flags "%s"',
    (flags) => {
      const pattern = new RegExp(linePattern, flags);
      expect(
        codes.filter((code) => code <= 0xffff && pattern.test(`a${String.fromCodePoint(code)}b`) === isUnfit(code)),
      ).toEqual([]);
    },
  );

  it.each([
    '\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645',
    '\u0915\u094d\u200d\u0937',
    '\u{1f469}\u{1f3fd}\u200d\u{1f4bb} Ada',
    '\u{1f3f3}\ufe0f\u200d\u{1f308}',
  ])('accepts joiners inside a word: %s', (name) =>
    expect([isSingleLine(name), toSingleLine(name), removeControlCharacters(name)]).toEqual([true, name, name]),
  );

  it.each(['Ada\u200d', '\u200cAda', 'Ada \u200d Lovelace', 'A\u200d\u200dda', '\u200d', 'Ada\u200d\u202eb'])(
    'rejects joiners outside a word: %j',
    (name) => {
      expect(isSingleLine(name)).toBe(false);
      expect(isSingleLine(toSingleLine(name))).toBe(true);
    },
  );

  it.each([
    ['Ada\nLovelace', 'Ada Lovelace'],
    ['Ada\r\n\tLovelace', 'Ada Lovelace'],
    ['Ada\u2028Lovelace\u0085', 'Ada Lovelace '],
    ['\u202eAda\u202c \u2066L\u2069', 'Ada L'],
    ['A\u200bd\u00ada\ufeff\u{e0041}', 'Ada'],
    ['\u0000A\u0007da\u009f \u{1f600}\u007f', 'Ada \u{1f600}'],
    ['A\ud800da', 'A\ufffdda'],
  ])('repairs names of a webhook: %j', (given, kept) => expect(toSingleLine(given)).toBe(kept));

  it('replaces line breaks in names where only spaces are allowed', () => {
    expect(removeControlCharacters(' ada\n@example\t.org\u200b')).toBe(' ada@example.org');
  });
});

describe('texts', () => {
  it('preserves tabs, line breaks and text directions in multi-line texts', () => {
    expect(toMultiline('one\u0000\r\n\ttwo\u0007\u009b3 \u202aL')).toBe('one\r\n\ttwo3 \u202aL');
  });

  it.each([
    '',
    ' \t\n',
    '\u00a0\u3000',
    '\u200b\u200d\ufeff',
    '\u2060\u2800',
    '\u3164\uffa0\u115f',
    '\ufe0f\u{e0100}',
    '\u202e\u0000',
    '\u034f',
  ])('treats a text without visible characters as blank: %j (rules/http#strings)', (text) =>
    expect([isBlank(text), isBlank(`${text}.`)]).toEqual([true, false]),
  );
});

describe('a truncated text', () => {
  it.each([
    ['short', 10, 'short'],
    ['a longer one', 5, 'a lon'],
    ['ab👩‍👩‍👧‍👦', 5, 'ab'],
    ['ab🇩🇪🇫🇷', 6, 'ab🇩🇪'],
    ['abe\u0301', 3, 'ab'],
    ['😀😀', 3, '😀'],
    ['😀', 1, ''],
    [`x${'\u0301'.repeat(500)}`, 300, `x${'\u0301'.repeat(299)}`],
  ])('truncates only between graphemes: %j to %i', (text, length, kept) =>
    expect(truncateText(text, length)).toBe(kept),
  );
});
