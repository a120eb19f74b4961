import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { findUnresolved, listUnnamed, readRules, type Rules, type TextFile } from './citations.ts';

const repoDir = join(import.meta.dirname, '..', '..');
/** They plant citations of what there is not. */
const own = ['test/architecture/citations.ts', 'test/architecture/rules.test.ts'];

function readFiles(...patterns: string[]): TextFile[] {
  const exclude = (name: string): boolean => /(^|\/)(node_modules|\.data|dist)(\/|$)/.test(name);
  return globSync(patterns, { cwd: repoDir, exclude })
    .filter((path) => !own.includes(path))
    .map((path) => ({ path, text: readFileSync(join(repoDir, path), 'utf8') }));
}

const isTest = ({ path }: TextFile): boolean => path.startsWith('test/') || path.endsWith('.test.ts');

describe('rules', () => {
  let rules: Rules;
  let files: TextFile[];

  beforeAll(() => {
    rules = readRules(readFiles('docs/rules/!(README).md', 'docs/architecture.md'));
    files = readFiles(
      '{services,libs,tools,cli,lab,test,clients}/**/*.{ts,js,mjs,json,yaml,sql}',
      '{docs,services,libs,test,clients,deploy}/**/*.md',
      'deploy/**/*.{yaml,tpl,json}',
      '*.{md,yaml,js}',
      'Dockerfile',
    );
  });

  it('are what every citation leads to, wherever it stands', () => {
    expect(files.length).toBeGreaterThan(500);
    expect(rules.ids.size).toBeGreaterThan(90);
    expect(findUnresolved(files, rules)).toEqual([]);
  });

  it('are each cited by a test', () => {
    expect(listUnnamed(files.filter(isTest), rules)).toEqual([]);
  });
});

describe('citations', () => {
  const rules = readRules([
    { path: 'docs/rules/room.md', text: '# Room\n\n## Transcript window\n\n- **D8** `phase` is a text.\n- **T1** a file\n' },
    { path: 'docs/architecture.md', text: '# Architecture\n\n## Jobs\n' },
  ]);

  it.each([
    'D99',
    'D8a',
    'T2',
    'rules/room#lounge',
    'rules/rooms#transcript-window',
    'architecture#queues',
    'spec 01',
    'Architecture §7',
    'design of providers',
  ])('are found when they lead nowhere: %s', (what) => {
    expect(findUnresolved([{ path: 'a.ts', text: `\n/** Why (${what}). */` }], rules)).toEqual([`a.ts:2: ${what}`]);
  });

  it.each([
    'D8',
    'T1',
    'K1',
    'S3',
    'D8: why',
    'rules/room#transcript-window, 4',
    'architecture#jobs',
    'docs/architecture.md#nothing',
    '%D8',
    'P1D9',
    'RFC 9110 §13',
  ])('pass: %s', (what) => {
    expect(findUnresolved([{ path: 'a.ts', text: `/** Why (${what}). */` }], rules)).toEqual([]);
  });

  it('of tests leave the rules that none of them names', () => {
    const more = readRules([{ path: 'docs/rules/a.md', text: '# A\n\n## B\n\nText.\n\n- **D1** one\n  line\n\n## C\n\n- **D2** two\n' }]);
    expect(listUnnamed([{ path: 'a.test.ts', text: 'D1 rules/a#c' }], more)).toEqual(['D2', 'rules/a#b']);
    expect(listUnnamed([{ path: 'a.test.ts', text: 'D2 rules/a#b' }], more)).toEqual(['D1']);
  });

  it('cannot be given twice', () => {
    const page = { path: 'docs/rules/room.md', text: '# Room\n\n- **D8** one\n- **D8** two\n' };
    expect(() => readRules([page])).toThrow('defined twice: D8');
  });
});
