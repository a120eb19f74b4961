import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { cursorFor, mergeEntries, readCursor, type ServiceEntry, writeCursor } from './index.ts';

const services = ['agents', 'directory', 'media'];

function entry(service: string, id: number, at: string): ServiceEntry {
  const actor = { kind: 'cli', account_id: null, key_id: null } as const;
  return {
    service,
    id,
    at,
    actor,
    action: 'x',
    target: null,
    changes: null,
    request_id: null,
    ip: null,
    outcome: 'ok',
  };
}

/** Returns entries as a service does: newest first, after the position `before`. */
function ask(
  log: readonly ServiceEntry[],
  before: { at: string; id: number } | undefined,
  limit: number,
): ServiceEntry[] {
  return log
    .filter(({ at, id }) => before === undefined || at < before.at || (at === before.at && id < before.id))
    .toSorted((left, right) => right.id - left.id)
    .slice(0, limit);
}

describe('mergeEntries (A3)', () => {
  it('returns every entry once, newest first, for any number of logs and any page size', () => {
    const instants = fc.array(fc.nat({ max: 4 }), { maxLength: 12 });
    fc.assert(
      fc.property(fc.tuple(instants, instants, instants), fc.integer({ min: 1, max: 5 }), (logs, limit) => {
        const all = services.map((service, place) =>
          (logs[place] ?? [])
            .toSorted((left, right) => left - right)
            .map((second, index) => entry(service, index + 1, `2026-05-01T10:00:0${second}.000001Z`)),
        );
        const told: ServiceEntry[] = [];
        let cursor: string | undefined;
        do {
          const position = cursor === undefined ? undefined : readCursor(cursor, services);
          const pages = services.map((service, place) =>
            ask(all[place] ?? [], position === undefined ? undefined : cursorFor(service, position), limit + 1),
          );
          const { items, next } = mergeEntries(pages, limit);
          told.push(...items);
          cursor = next === undefined ? undefined : writeCursor(next);
        } while (cursor !== undefined);
        expect(told).toHaveLength(all.flat().length);
        expect(new Set(told)).toEqual(new Set(all.flat()));
        expect(told.map(({ at }) => at)).toEqual(
          told
            .map(({ at }) => at)
            .toSorted()
            .toReversed(),
        );
      }),
    );
  });

  it('orders an instant without a fraction before later instants of the same second', () => {
    const pages = [[entry('agents', 1, '2026-05-01T10:00:00Z')], [entry('media', 1, '2026-05-01T10:00:00.500000Z')]];
    expect(mergeEntries(pages, 2).items.map(({ service }) => service)).toEqual(['media', 'agents']);
  });
});

describe('readCursor (A3)', () => {
  const at = '2026-05-01T10:00:00.000001Z 0000000000000007';
  const position = { at, source: 'media' };
  const write = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

  it('decodes the cursors that writeCursor returns', () => {
    expect(readCursor(writeCursor(position), services)).toEqual(position);
  });

  it.each([
    '',
    'x',
    'not base64url!',
    writeCursor({ ...position, source: 'strangers' }),
    write(['jobs', at, 'media']),
    write(['audit', 'yesterday 0000000000000007', 'media']),
    write(['audit', '2026-99-01T10:00:00.000000Z 0000000000000007', 'media']),
    write(['audit', '2026-05-01T10:00:00.000001Z', 'media']),
    write(['audit', at, 'media', 7]),
    write({ 0: 'audit' }),
    'A'.repeat(500),
  ])('rejects an invalid cursor: %s', (text) => {
    expect(readCursor(text, services)).toBeUndefined();
  });
});
