/** Checks that each public event type is documented in the rules and covered by a test (rules/events#types; V1). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { feedTypes } from '#services/events';
import { readSources, repoDir } from './sources.ts';

/** Returns the rows of the event type table; `person.created`, `.updated` counts as two types. */
function readTable(): Map<string, string[]> {
  const [, section = ''] = readFileSync(join(repoDir, 'docs', 'rules', 'events.md'), 'utf8').split('## Types');
  const named = (text = ''): string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
  const rows = (section.split('\n- **')[0] ?? '').split('\n').filter((line) => line.startsWith('| `'));
  return new Map(
    rows.flatMap((row) => {
      const [, types, , data] = row.split('|');
      const [first = '', ...others] = named(types);
      const kind = first.split('.')[0];
      return [first, ...others.map((other) => `${kind}${other}`)].map((type): [string, string[]] => [
        type,
        named(data),
      ]);
    }),
  );
}

/** Returns types that these tests do not assert. Types in requests or in test data do not count. */
function listUntold(tests: readonly string[], types: readonly string[]): string[] {
  const found = tests.map((text) =>
    text
      .replaceAll(/`[^`]*`/g, '')
      .replaceAll(/\btypes[?]?: (?:\[[^\]]*\]|'[^']*')/g, '')
      .replaceAll(/'--types',\s*'[^']*'/g, ''),
  );
  return types.filter((type) => !found.some((text) => text.includes(`'${type}'`)));
}

describe('types of events (rules/events#types; V1)', () => {
  const types = feedTypes.map(({ type }) => type);

  it('the rules list every event type with the fields of its data', () => {
    const table = readTable();
    expect([...table.keys()].toSorted()).toEqual(types.toSorted());
    for (const { type, data } of feedTypes) {
      const names = Object.keys((data as { properties?: object }).properties ?? {});
      expect([type, names.filter((name) => table.get(type)?.includes(name) !== true)]).toEqual([type, []]);
    }
  });

  it('a test reads every event type from the feed', () => {
    const tests = readSources('test').filter(({ path }) => /^test\/(integration|e2e)\/.*\.test\.ts$/.test(path));
    expect(
      listUntold(
        tests.map(({ text }) => text),
        types,
      ),
    ).toEqual([]);
  });

  it('requested or invented event types do not count as tested', () => {
    const asking =
      "read({ types: 'a.asked' }); create({ types: ['b.asked', 'b.wanted'] }); cli('--types', 'c.asked'); sql(`insert 'd.made'`)";
    expect(
      listUntold([asking, "toEqual([['e.told', {}]])"], ['a.asked', 'b.wanted', 'c.asked', 'd.made', 'e.told']),
    ).toEqual(['a.asked', 'b.wanted', 'c.asked', 'd.made']);
  });
});
