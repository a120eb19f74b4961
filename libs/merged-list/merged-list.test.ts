import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { beginOf, type ListKind, mergePages, type Position, readCursor, writeCursor } from './index.ts';

const sources = ['agents', 'directory', 'media'];
const kind: ListKind = { name: 'things', at: /^\d+$/, sources };
const positionOf = (item: Position): Position => item;

/** As a source answers: newest first, behind the position. */
function ask(items: readonly Position[], begin: { before: string; inclusive: boolean } | undefined, limit: number): Position[] {
  return items
    .filter(({ at }) => begin === undefined || at < begin.before || (begin.inclusive && at === begin.before))
    .toSorted((left, right) => (left.at < right.at ? 1 : -1))
    .slice(0, limit);
}

describe('a list out of several (P2)', () => {
  it('gives every item that was there for the first page once, newest first, whatever arrives between two pages', () => {
    const places = fc.uniqueArray(fc.integer({ min: 10, max: 40 }), { maxLength: 12 });
    const arrivals = fc.array(fc.record({ source: fc.nat({ max: 2 }), at: fc.integer({ min: 10, max: 60 }) }), { maxLength: 12 });
    fc.assert(
      fc.property(fc.tuple(places, places, places), arrivals, fc.integer({ min: 1, max: 4 }), (lists, arriving, limit) => {
        const held = lists.map((list, index) => list.map((at): Position => ({ at: String(at), source: sources[index] ?? '' })));
        const there = held.flat();
        const told: Position[] = [];
        let position: Position | undefined;
        do {
          const pages = held.map((items, index) =>
            ask(items, position === undefined ? undefined : beginOf(sources[index] ?? '', position), limit + 1),
          );
          const page = mergePages(pages, { limit, positionOf });
          told.push(...page.items);
          expect(page.items.length).toBeLessThanOrEqual(limit);
          position = page.next === undefined ? undefined : readCursor(kind, writeCursor(kind, page.next));
          expect(position).toEqual(page.next);
          const next = arriving.shift();
          const list = held[next?.source ?? 0];
          // One place of a source is taken once, as ids are.
          if (next !== undefined && list?.every(({ at }) => at !== String(next.at)) === true)
            list.push({ at: String(next.at), source: sources[next.source] ?? '' });
        } while (position !== undefined);
        const name = ({ at, source }: Position): string => `${at} ${source}`;
        expect(new Set(told.map(name)).size).toBe(told.length);
        expect(there.filter((item) => !told.some((other) => name(other) === name(item)))).toEqual([]);
        const order = told.map(({ at, source }) => [-Number(at), sources.indexOf(source)] as const);
        expect(order).toEqual(order.toSorted((left, right) => left[0] - right[0] || left[1] - right[1]));
      }),
    );
  });

  it.each([
    ['a text', 'no cursor'],
    ['another list', writeCursor({ name: 'others' }, { at: '1', source: 'media' })],
    ['a place that is none', writeCursor(kind, { at: '1; drop', source: 'media' })],
    ['a source that is none', writeCursor(kind, { at: '1', source: 'constructor' })],
    ['other JSON', Buffer.from('{"things": 1}').toString('base64url')],
    ['too many parts', Buffer.from('["things","1","media","more"]').toString('base64url')],
    ['much', 'A'.repeat(500)],
  ])('takes no cursor of %s (P8)', (_name, text) => {
    expect(readCursor(kind, text)).toBeUndefined();
  });
});
