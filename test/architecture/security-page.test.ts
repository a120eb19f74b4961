/** Checks that docs/security.md names an existing test for each risk and lists every attack test. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const repoDir = join(import.meta.dirname, '..', '..');
const page = readFileSync(join(repoDir, 'docs', 'security.md'), 'utf8');
const named = [...page.matchAll(/`([\w./-]+\.test\.ts)`/g)].map(([, file = '']) => file);

describe('docs/security.md', () => {
  it('the security page has a defence and a test for each of the ten risks', () => {
    const rows = [...page.matchAll(/^\| API(\d+) [^|]+\|([^|]+)\|([^|]+)\|$/gm)];
    expect(rows.map(([, number]) => Number(number))).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    for (const [, , defence = '', tests = ''] of rows) {
      expect(defence.trim().length).toBeGreaterThan(40);
      expect(tests).toContain('.test.ts`');
    }
  });

  it('the security page names existing tests', () => {
    expect(named.filter((file) => !existsSync(join(repoDir, file)))).toEqual([]);
  });

  it('the security page names every attack test', () => {
    const attacks = readdirSync(join(repoDir, 'test', 'security')).filter((file) => file.endsWith('.test.ts'));
    expect(attacks.map((file) => `test/security/${file}`).filter((file) => !named.includes(file))).toEqual([]);
  });

  it('the security page names existing settings', () => {
    const settings = readFileSync(join(repoDir, 'docs', 'settings.md'), 'utf8');
    const words = [...page.matchAll(/`([A-Z]+(?:_[A-Z]+)+)(?:=\w+)?`/g)].map(([, name = '']) => name);
    expect([...new Set(words)].filter((name) => !settings.includes(`\`${name}\``))).toEqual([]);
  });
});
