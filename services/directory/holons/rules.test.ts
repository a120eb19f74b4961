import { describe, expect, it } from '@jest/globals';
import { findCountryCode } from './rules.ts';

describe('countries (D46a)', () => {
  it.each(['de', 'DE', 'dE'])('accepts the country code %s in any case and returns upper case', (given) => {
    expect(findCountryCode(given)).toBe('DE');
  });

  it.each(['DEU', 'XX', 'zz', '', 'd', ' DE', 'DE ', '27', 'ſı'])('rejects the country code %j', (given) => {
    expect(findCountryCode(given)).toBeUndefined();
  });
});
