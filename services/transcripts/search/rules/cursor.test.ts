import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { readCursor, writeCursor, type Cursor } from './cursor.ts';

const request = { q: 'plan', journey: 'circle' };
const place = { start: '2030-01-15T10:00:00.000001Z', id: 7, index: 3 };
const cursor: Cursor = {
  below: place,
  last: { ...place, id: 5 },
  after: { ...place, id: 6, score: 0.123_456_789 },
  total: 40,
};

describe('search cursor (T2, T6)', () => {
  it.each([cursor, { ...cursor, below: null }, { ...cursor, last: null, after: null }])(
    'decodes the cursor to the encoded value %j',
    (given) => {
      expect(readCursor(writeCursor(given, request), request)).toEqual(given);
    },
  );

  it('accepts a cursor only for the query that created it', () => {
    expect(readCursor(writeCursor(cursor, request), { ...request, q: 'plans' })).toBeUndefined();
  });

  it('rejects an invalid cursor', () => {
    const [digest] = JSON.parse(Buffer.from(writeCursor(cursor, request), 'base64url').toString()) as [string];
    const forge = (...fields: unknown[]): string =>
      Buffer.from(JSON.stringify([digest, ...fields])).toString('base64url');
    for (const text of [
      '',
      'x',
      forge(),
      forge(1, null, null),
      forge(-1, null, null, null),
      forge(1, ['soon', 1, 1], null, null),
      forge(1, ['2030-99-15T10:00:00Z', 1, 1], null, null),
      forge(1, [place.start, 1.5, 1], null, null),
      forge(1, [place.start, 1, 3e9], null, null),
      forge(1, null, null, [place.start, 1, 1]),
      forge(1, null, null, [place.start, 1, 1, 'x']),
    ])
      expect([text, readCursor(text, request)]).toEqual([text, undefined]);
    fc.assert(fc.property(fc.string(), (text) => readCursor(text, request) === undefined));
  });
});
