import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { formatInstant, parseInstant, parseRetryAfter } from './index.ts';

const oneDay = 86_400_000_000n;
const instants = fc.bigInt({ min: -62_135_596_800_000_000n + oneDay, max: 253_402_300_799_999_999n - oneDay });

describe('parseInstant (rules/http#datetimes-in)', () => {
  it.each([
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00Z'],
    ['9999-12-31T23:59:59.999999Z', '9999-12-31T23:59:59.999999Z'],
    ['2026-05-01T10:00:00.1+02:00', '2026-05-01T08:00:00.100000Z'],
    ['2026-05-01t10:00:00z', '2026-05-01T10:00:00Z'],
    ['2026-05-01T10:00:00-0030', '2026-05-01T10:30:00Z'],
    ['2026-05-01T10:00:00.123456789Z', '2026-05-01T10:00:00.123456Z'],
    ['2026-05-01T10:00Z', '2026-05-01T10:00:00Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00Z'],
  ])('parses the time %s as %s', (text, expected) => {
    const parsed = parseInstant(text);
    expect(parsed.kind).toBe('instant');
    expect(parsed.kind === 'invalid' ? '' : formatInstant(parsed.instant)).toBe(expected);
  });

  it.each([
    '',
    'now',
    '2026-02-30T10:00:00Z',
    '2025-02-29T00:00:00Z',
    '2026-13-01T10:00:00Z',
    '2026-05-01T24:00:00Z',
    '2026-05-01T10:60:00Z',
    '2026-05-01T10:00:60Z',
    '0000-12-31T23:59:59Z',
    '0001-01-01T00:00:00+00:01',
    '9999-12-31T23:59:59-00:01',
    '2026-05-01',
    '1777622400',
    '2026-05-01T10:00:00 Z',
  ])('rejects the time %j', (text) => {
    expect(parseInstant(text).kind).toBe('invalid');
  });

  it('parses a time without an offset as UTC, and reports the missing offset', () => {
    expect(parseInstant('2026-05-01T10:00:00')).toEqual({ kind: 'naive', instant: 1_777_629_600_000_000n });
  });

  it('formats and parses every instant without loss, in any offset', () => {
    fc.assert(
      fc.property(instants, fc.integer({ min: -23 * 60, max: 23 * 60 }), (instant, minutes) => {
        const shifted = formatInstant(instant + BigInt(minutes) * 60_000_000n).slice(0, -1);
        const size = Math.abs(minutes);
        const offset = `${minutes < 0 ? '-' : '+'}${String(Math.floor(size / 60)).padStart(2, '0')}:${String(size % 60).padStart(2, '0')}`;
        expect(parseInstant(formatInstant(instant))).toEqual({ kind: 'instant', instant });
        expect(parseInstant(`${shifted}${offset}`)).toEqual({ kind: 'instant', instant });
      }),
    );
  });
});

describe('formatInstant (rules/http#datetimes-out)', () => {
  it('writes six digits of fraction if the microseconds are not zero, and otherwise none', () => {
    expect(formatInstant(1_777_629_600_000_000n)).toBe('2026-05-01T10:00:00Z');
    expect(formatInstant(1_777_629_600_000_001n)).toBe('2026-05-01T10:00:00.000001Z');
    expect(formatInstant(-1n)).toBe('1969-12-31T23:59:59.999999Z');
  });

  it('writes an explicit offset when requested', () => {
    expect(formatInstant(1_777_629_600_000_000n, '+00:00')).toBe('2026-05-01T10:00:00+00:00');
  });
});

describe('parseRetryAfter', () => {
  const now = Date.parse('2026-05-01T10:00:00Z');

  it.each([
    ['0', 0],
    ['120', 120_000],
    [' 1.5 ', 1_500],
    ['Fri, 01 May 2026 10:01:00 GMT', 60_000],
    ['Fri, 01 May 2026 09:59:00 GMT', 0],
  ])('parses Retry-After %j as %d ms', (header, expected) => {
    expect(parseRetryAfter(header, now)).toBe(expected);
  });

  it.each([undefined, null, '', 'soon', '12 seconds'])('returns undefined for Retry-After %j', (header) => {
    expect(parseRetryAfter(header, now)).toBeUndefined();
  });

  it('returns undefined for a Retry-After date when the current time is unknown', () => {
    expect(parseRetryAfter('Fri, 01 May 2026 10:01:00 GMT', Number.NaN)).toBeUndefined();
    expect(parseRetryAfter('3', Number.NaN)).toBe(3_000);
  });
});
