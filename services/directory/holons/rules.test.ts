import { describe, expect, it } from '@jest/globals';
import { findCountryCode } from './rules.ts';

describe('countries (D46a)', () => {
  it.each(['de', 'DE', 'dE'])('knows %s in any case and stores it in upper case', (given) => {
    expect(findCountryCode(given)).toBe('DE');
  });

  it.each(['DEU', 'XX', 'zz', '', 'd', ' DE', 'DE ', '27', 'ſı'])('knows no country %j', (given) => {
    expect(findCountryCode(given)).toBeUndefined();
  });
});
