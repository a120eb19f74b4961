import { describe, expect, it } from '@jest/globals';
import { listMigrations, replacedMigrations, withReplacements } from './index.ts';

describe('withReplacements', () => {
  const replaced = { c: ['a', 'b'] };

  it.each([
    ['exchanges a complete set', ['a', 'b', 'd'], ['c', 'd']],
    ['keeps an incomplete set', ['a', 'd'], ['a', 'd']],
    ['names a migration once that ran beside those it replaces', ['a', 'b', 'c'], ['c']],
  ])('withReplacements %s', (_title, names, expected) => expect(withReplacements(names, replaced)).toEqual(expected));
});

describe('replaced migrations', () => {
  it.each(Object.entries(listMigrations()))(
    'lists only existing replacements for %s, and no replaced migration still exists',
    (service, names) => {
      const replaced = replacedMigrations(service);
      const former = Object.values(replaced).flat();
      expect(names).toEqual(expect.arrayContaining(Object.keys(replaced)));
      expect(former.filter((name) => names.includes(name))).toEqual([]);
      expect(new Set(former).size).toBe(former.length);
    },
  );
});
