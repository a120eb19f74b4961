import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { decideRange, matchesNone, matchesStrongly } from './rules.ts';

const etag = '"abc"';
const decide = (header: string | undefined, sizeBytes = 1000, ifRange?: string) =>
  decideRange(header, ifRange, etag, sizeBytes);
const part = (first: number, last: number) => ({ kind: 'part', range: { first, last } });

describe('decideRange (D27; RFC 9110, 14)', () => {
  it.each([
    ['bytes=0-0', part(0, 0)],
    ['bytes=0-499', part(0, 499)],
    ['bytes=500-', part(500, 999)],
    ['bytes=-1', part(999, 999)],
    ['bytes=-500', part(500, 999)],
    ['bytes=-5000', part(0, 999)],
    ['bytes=990-5000', part(990, 999)],
    ['bytes=0-99999999999999999999999', part(0, 999)],
    ['Bytes=1-2', part(1, 2)],
    ['bytes= 1-2 ', part(1, 2)],
    ['bytes=,1-2,', part(1, 2)],
    ['bytes=1-2,2000-3000', part(1, 2)],
  ])('selects one range for %s', (header, decision) => {
    expect(decide(header)).toEqual(decision);
  });

  it.each(['bytes=1000-', 'bytes=1000-2000', 'bytes=-0', 'bytes=99999999999999999999-', 'bytes=1000-,-0'])(
    'returns unsatisfiable for %s',
    (header) => {
      expect(decide(header)).toEqual({ kind: 'unsatisfiable' });
    },
  );

  it.each([
    undefined,
    'bytes',
    'bytes=',
    'bytes=-',
    'bytes=abc',
    'bytes=5-2',
    'bytes=1-2x',
    'bytes=0x1-2',
    'items=0-1',
    'seconds=1-2',
    '0-1',
    'bytes=1-2,x',
    'bytes=0-1,5-6',
  ])('selects the whole file for %s', (header) => {
    expect(decide(header)).toEqual({ kind: 'whole' });
  });

  it('selects the whole file for too many ranges', () => {
    expect(decide(`bytes=${Array.from({ length: 51 }, () => '2000-').join(',')}`)).toEqual({ kind: 'whole' });
  });

  it('applies the range only if If-Range contains the current ETag', () => {
    expect(decide('bytes=1-2', 1000, etag)).toEqual(part(1, 2));
    for (const other of ['"abd"', 'W/"abc"', 'abc', 'Wed, 21 Oct 2015 07:28:00 GMT'])
      expect(decide('bytes=1-2', 1000, other)).toEqual({ kind: 'whole' });
  });

  it('never selects bytes outside of the file, for any header', () => {
    const specifier = fc
      .tuple(fc.option(fc.nat(), { nil: '' }), fc.option(fc.nat(), { nil: '' }))
      .map(([from, to]) => `${from}-${to}`);
    const header = fc.oneof(
      fc.string(),
      fc.array(specifier, { maxLength: 4 }).map((list) => `bytes=${list.join(',')}`),
    );
    fc.assert(
      fc.property(header, fc.integer({ min: 1, max: 2_000_000_000 }), (text, sizeBytes) => {
        const decision = decide(text, sizeBytes);
        if (decision.kind !== 'part') return;
        const { first, last } = decision.range;
        expect(first).toBeGreaterThanOrEqual(0);
        expect(last).toBeGreaterThanOrEqual(first);
        expect(last).toBeLessThan(sizeBytes);
      }),
    );
  });
});

describe('matchesNone and matchesStrongly (rules/http#etag; RFC 9110, 13.1)', () => {
  it('compares If-None-Match weakly, in lists and with *', () => {
    for (const header of ['"abc"', 'W/"abc"', '"x", "abc"', ' * ', '"x",W/"abc"'])
      expect(matchesNone(header, etag)).toBe(true);
    for (const header of ['"x"', 'abc', '', 'W/"abcd"', '"*"']) expect(matchesNone(header, etag)).toBe(false);
  });

  it('compares If-Match strongly', () => {
    for (const header of ['"abc"', '*', '"x", "abc"']) expect(matchesStrongly(header, etag)).toBe(true);
    for (const header of ['W/"abc"', '"x"', 'abc', '']) expect(matchesStrongly(header, etag)).toBe(false);
  });
});
