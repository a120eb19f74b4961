import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { decodeCursor, encodeCursor } from './index.ts';

describe('a cursor', () => {
  it('encodes a value as one URL-safe word, and decodes it again', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), (values) => {
        const text = encodeCursor(values);
        expect(text).toMatch(/^[A-Za-z0-9_-]+$/);
        expect(JSON.stringify(decodeCursor(text))).toBe(JSON.stringify(values));
      }),
    );
  });

  it.each([
    ['nothing', ''],
    ['no base64url', `${encodeCursor([1])}=`],
    ['no JSON', Buffer.from('[1').toString('base64url')],
    ['JSON that is no list', Buffer.from('{"at": 1}').toString('base64url')],
  ])('rejects the cursor %s', (_what, text) => {
    expect(decodeCursor(text)).toBeUndefined();
  });
});
