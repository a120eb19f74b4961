import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { cleanFileName } from './file-name.ts';

describe('cleanFileName (rules/http#limits; D27)', () => {
  it('lets no separator or control character through', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (name) => {
        expect(cleanFileName(name)).not.toMatch(/[/\\\p{Cc}]/u);
        expect(cleanFileName(name).isWellFormed()).toBe(true);
      }),
    );
  });
});
