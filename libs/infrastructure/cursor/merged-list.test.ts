import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  startCursor,
  cursorFor,
  findTruncated,
  findPosition,
  hasMore,
  type ListKind,
  maxCursorLength,
  mergePages,
  type MergedCursor,
  nextCursor,
  type Position,
  decodePosition,
  decodeMergedCursor,
  encodePosition,
  encodeMergedCursor,
} from './index.ts';

const sources = ['agents', 'directory', 'media'];
const kind: ListKind = { name: 'things', at: /^\d+$/, sources };
const positionOf = (item: Position): Position => item;

/** Returns items as a source does: newest first, after the position. */
function ask(
  items: readonly Position[],
  begin: { before: string; inclusive: boolean } | undefined,
  limit: number,
): Position[] {
  return items
    .filter(({ at }) => begin === undefined || at < begin.before || (begin.inclusive && at === begin.before))
    .toSorted((left, right) => (left.at < right.at ? 1 : -1))
    .slice(0, limit);
}

describe('a list merged from several sources (P2)', () => {
  it('returns every item of the first request once, newest first, even if new items are added between pages', () => {
    const places = fc.uniqueArray(fc.integer({ min: 10, max: 40 }), { maxLength: 12 });
    const arrivals = fc.array(fc.record({ source: fc.nat({ max: 2 }), at: fc.integer({ min: 10, max: 60 }) }), {
      maxLength: 12,
    });
    fc.assert(
      fc.property(
        fc.tuple(places, places, places),
        arrivals,
        fc.integer({ min: 1, max: 4 }),
        (lists, arriving, limit) => {
          const held = lists.map((list, index) =>
            list.map((at): Position => ({ at: String(at), source: sources[index] ?? '' })),
          );
          const there = held.flat();
          const told: Position[] = [];
          let position: Position | undefined;
          do {
            const pages = held.map((items, index) =>
              ask(items, position === undefined ? undefined : cursorFor(sources[index] ?? '', position), limit + 1),
            );
            const page = mergePages(pages, { limit, positionOf });
            told.push(...page.items);
            expect(page.items.length).toBeLessThanOrEqual(limit);
            position = page.next === undefined ? undefined : decodePosition(kind, encodePosition(kind, page.next));
            expect(position).toEqual(page.next);
            const next = arriving.shift();
            const list = held[next?.source ?? 0];
            // Each position of a source is used once, like an id.
            if (next !== undefined && list?.every(({ at }) => at !== String(next.at)) === true)
              list.push({ at: String(next.at), source: sources[next.source] ?? '' });
          } while (position !== undefined);
          const name = ({ at, source }: Position): string => `${at} ${source}`;
          expect(new Set(told.map(name)).size).toBe(told.length);
          expect(there.filter((item) => !told.some((other) => name(other) === name(item)))).toEqual([]);
          const order = told.map(({ at, source }) => [-Number(at), sources.indexOf(source)] as const);
          expect(order).toEqual(order.toSorted((left, right) => left[0] - right[0] || left[1] - right[1]));
        },
      ),
    );
  });

  it('requests further items only from sources that need them, and returns the same page as with all items', () => {
    const places = fc.uniqueArray(fc.integer({ min: 10, max: 40 }), { maxLength: 15 });
    fc.assert(
      fc.property(
        fc.tuple(places, places, places),
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: 1, max: 10 }),
        (lists, limit, most) => {
          const asked = Math.min(limit + 1, most);
          const held = lists.map((list, index) =>
            list.map((at): Position => ({ at: String(at), source: sources[index] ?? '' })),
          );
          const parts = held.map((items) => ask(items, undefined, asked));
          const short = findTruncated(new Map(parts.entries()), { requested: asked, limit, positionOf });
          const pages = held.map((items, place) =>
            short.includes(place) ? ask(items, undefined, limit + 1) : (parts[place] ?? []),
          );
          const whole = held.map((items) => ask(items, undefined, limit + 1));
          expect(mergePages(pages, { limit, positionOf })).toEqual(mergePages(whole, { limit, positionOf }));
          for (const place of short) expect(parts[place]).toHaveLength(asked);
        },
      ),
    );
  });

  it('returns every item once in ordered pages when sources fail temporarily, and ends when all sources are exhausted', () => {
    const places = fc.uniqueArray(fc.integer({ min: 10, max: 40 }), { maxLength: 12 });
    const outages = fc.array(fc.subarray(sources), { maxLength: 20 });
    const arrivals = fc.array(fc.record({ source: fc.nat({ max: 2 }), at: fc.integer({ min: 41, max: 99 }) }), {
      maxLength: 12,
    });
    fc.assert(
      fc.property(
        fc.tuple(places, places, places),
        outages,
        arrivals,
        fc.integer({ min: 1, max: 4 }),
        (lists, away, arriving, limit) => {
          const held = new Map(
            sources.map((source, index) => [
              source,
              (lists[index] ?? []).map((at): Position => ({ at: String(at), source })),
            ]),
          );
          const there = [...held.values()].flat();
          const told: Position[] = [];
          let place: MergedCursor | undefined = startCursor;
          while (place !== undefined) {
            const here: MergedCursor = place;
            const down = away.shift() ?? [];
            const asked = sources.filter((source) => hasMore(here, source));
            const missing = asked.filter((source) => down.includes(source));
            if (missing.length === asked.length && missing.length > 0) continue; // no source responds: the page is requested again
            const pages = asked
              .filter((source) => !missing.includes(source))
              .map((source) => {
                const position = findPosition(here, source);
                return ask(
                  held.get(source) ?? [],
                  position === undefined ? undefined : cursorFor(source, position),
                  limit + 1,
                );
              });
            const page = mergePages(pages, { limit, positionOf });
            const order = page.items.map(({ at, source }) => [-Number(at), sources.indexOf(source)] as const);
            expect(order).toEqual(order.toSorted((left, right) => left[0] - right[0] || left[1] - right[1]));
            told.push(...page.items);
            place = nextCursor(here, { next: page.next, missing });
            if (place !== undefined) {
              const cursor = encodeMergedCursor(kind, place);
              expect(cursor.length).toBeLessThan(maxCursorLength);
              expect(decodeMergedCursor(kind, cursor)).toEqual(place);
            }
            const next = arriving.shift();
            const source = sources[next?.source ?? 0] ?? '';
            const list = held.get(source);
            if (next !== undefined && list?.every(({ at }) => at !== String(next.at)) === true)
              list.push({ at: String(next.at), source });
          }
          const name = ({ at, source }: Position): string => `${at} ${source}`;
          expect(new Set(told.map(name)).size).toBe(told.length);
          expect(there.filter((item) => !told.some((other) => name(other) === name(item)))).toEqual([]);
        },
      ),
    );
  });

  it.each([
    ['a text', 'no cursor'],
    ['another list', encodePosition({ name: 'others' }, { at: '1', source: 'media' })],
    ['a place that is none', encodePosition(kind, { at: '1; drop', source: 'media' })],
    ['a source that is none', encodePosition(kind, { at: '1', source: 'constructor' })],
    ['other JSON', Buffer.from('{"things": 1}').toString('base64url')],
    ['too many parts', Buffer.from('["things","1","media","more"]').toString('base64url')],
    ['much', 'A'.repeat(maxCursorLength + 1)],
    ['nowhere', Buffer.from('["things","beginning",[]]').toString('base64url')],
    ['a late source that is none', Buffer.from('["things","end",[["constructor","beginning"]]]').toString('base64url')],
    [
      'a late place that is none',
      Buffer.from('["things","end",[["media",["1; drop","media"]]]]').toString('base64url'),
    ],
    ['a late one that is no pair', Buffer.from('["things",["1","media"],["media"]]').toString('base64url')],
  ])('rejects a cursor of %s (P8)', (_name, text) => {
    expect([decodePosition(kind, text), decodeMergedCursor(kind, text)]).toEqual([undefined, undefined]);
  });
});
