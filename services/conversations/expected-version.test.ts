import { describe, expect, it } from '@jest/globals';
import { readExpected } from './expected-version.ts';

describe('readExpected', () => {
  it('reads the instant that a write expects', () => {
    expect(readExpected('2026-05-01T12:00:00.000001+02:00')).toBe('2026-05-01T10:00:00.000001Z');
  });

  it.each([null, undefined])('takes %s for no expectation (D9)', (text) => {
    expect(readExpected(text)).toBeNull();
  });

  it.each(['', 'yesterday', '2026-02-30T10:00:00Z'])('throws for %j: the write would have no guard', (text) => {
    expect(() => readExpected(text)).toThrow('expected_updated_at is not an instant');
  });
});
