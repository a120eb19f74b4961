import { describe, expect, it } from '@jest/globals';
import { checkFreshness, listTouchedPaths } from './rules.ts';

describe('listTouchedPaths', () => {
  it('lists the leaves of a patch as dotted paths, including deletions, lists and empty objects', () => {
    const patch = { a: 1, b: null, c: { d: { e: [1, { f: 2 }] }, g: null }, h: {} };
    expect(listTouchedPaths(patch)).toEqual(['a', 'b', 'c.d.e', 'c.g', 'h']);
    expect(listTouchedPaths({})).toEqual([]);
  });
});

describe('checkFreshness (D9a, D16b)', () => {
  const stored = '2026-05-01T10:00:00.000001Z';
  it.each([[undefined], [null], [stored], ['2026-05-01T12:00:00.000001+02:00'], ['2026-05-01T10:00:00.0000010Z']])(
    'accepts the expected `updated_at` %s',
    (expected) => {
      expect(() => checkFreshness(stored, expected)).not.toThrow();
    },
  );
  it.each([['2026-05-01T10:00:00Z'], ['2026-05-01T10:00:00.000002Z'], ['2026-05-01T10:00:00.000001+02:00']])(
    'rejects the expected `updated_at` %s',
    (expected) => {
      expect(() => checkFreshness(stored, expected)).toThrow(
        expect.objectContaining({ reason: 'stale_config', details: { updated_at: stored } }),
      );
    },
  );
  it('treats whole seconds with and without a fraction as equal', () => {
    expect(() => checkFreshness('2026-05-01T10:00:00Z', '2026-05-01T10:00:00.000000Z')).not.toThrow();
  });
});
