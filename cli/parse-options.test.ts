import { describe, expect, it } from '@jest/globals';
import { parseTime } from './parse-options.ts';

const now = Date.parse('2030-01-01T12:00:00Z');

describe('parseTime', () => {
  it.each([
    ['2026-05-01', '2026-05-01T00:00:00.000Z'],
    ['2026-05-01T10:00:00+02:00', '2026-05-01T10:00:00+02:00'],
    ['2026-05-01T10:00:00.123456Z', '2026-05-01T10:00:00.123456Z'],

    ['90s', '2030-01-01T11:58:30.000Z'],
    ['30min', '2030-01-01T11:30:00.000Z'],
    ['2h', '2030-01-01T10:00:00.000Z'],
    ['7d', '2029-12-25T12:00:00.000Z'],
  ])('parses the time %s', (text, instant) => expect(parseTime(text, now)).toBe(instant));

  it.each(['', 'yesterday', '2026-13-01', '2026-05-01T10:00:00', '5', '5w', '-2h', '1234567d', '2026-05-01 10:00'])(
    'rejects the time %j',
    (text) => expect(() => parseTime(text, now)).toThrow(/^must be a date \(2026-05-01\)/),
  );
});
