import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { joinIds, readJourneyHint } from './booking-event.ts';

describe('readJourneyHint (D19)', () => {
  it.each([
    ['https://x.example.org/a/b?journey=c', ['c'], true],
    ['https://x.example.org/a/b?journey=', ['b', 'a'], false],
    ['https://x.example.org/a//b/', ['b', 'a'], false],
    ['https://x.example.org/a%20b/%ZZ#open', ['%ZZ', 'a b'], false],
    ['x.example.org/a', ['a', 'x.example.org'], false],
    ['https://x.example.org', [], false],
  ])('of %s tries %j', (url, slugs, named) => {
    expect(readJourneyHint(url)).toEqual({ slugs, named });
  });

  it.each([null, '', '  ', 'http://'])('is undefined without a readable URL: %p', (url) => {
    expect(readJourneyHint(url)).toBeUndefined();
  });

  it('never throws', () => {
    fc.assert(fc.property(fc.oneof(fc.string(), fc.webUrl({ withQueryParameters: true })), (url) => void readJourneyHint(url)));
    expect(readJourneyHint('https://[::1')).toBeUndefined();
  });
});

describe('joinIds (D19a: later events add participants and never remove any)', () => {
  it('keeps the order of the first list and adds each new id once', () => {
    expect(joinIds([3, 1], [1, 2, 2, 3])).toEqual([3, 1, 2]);
  });
});
