import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { listAnchors } from './anchors.ts';
import { findUnresolved, isTest, listUnnamed, readRules, type Rules, type TextFile } from './citations.ts';

const repoDir = join(import.meta.dirname, '..', '..');
/** These files contain invalid citations on purpose. */
const own = ['test/architecture/citations.ts', 'test/architecture/rules.test.ts'];

function readFiles(...patterns: string[]): TextFile[] {
  const exclude = (name: string): boolean => /(^|\/)(node_modules|\.data|dist)(\/|$)/.test(name);
  return globSync(patterns, { cwd: repoDir, exclude })
    .filter((path) => !own.includes(path))
    .map((path) => ({ path, text: readFileSync(join(repoDir, path), 'utf8') }));
}

function isThere(path: string, anchor: string | undefined): boolean {
  const file = join(repoDir, path);
  return existsSync(file) && (anchor === undefined || listAnchors(readFileSync(file, 'utf8')).includes(anchor));
}

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

  it('every cited rule exists', () => {
    expect(files.length).toBeGreaterThan(500);
    expect(rules.ids.size).toBeGreaterThan(90);
    expect(findUnresolved(files, rules, isThere)).toEqual([]);
  });

  it('every rule is cited by a test', () => {
    expect(
      listUnnamed(
        files.filter(({ path }) => isTest(path)),
        rules,
      ),
    ).toEqual([]);
  });
});

describe('citations', () => {
  const rules = readRules([
    {
      path: 'docs/rules/room.md',
      text: '# Room\n\n## Transcript window\n\n- **D8** `phase` is a text.\n- **T1** a file\n',
    },
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
    'design: one way',
    'docs/adr: one way',
    'docs/adr/one-way.md',
    '../../docs/adr/one-way.md',
    'docs/architecture.md#nothing',
    'libs/infrastructure/nats/one-way.ts',
    'rules/rooms',
  ])('reports a citation without a target: %s', (what) => {
    expect(findUnresolved([{ path: 'a.ts', text: `\n/** Why (${what}). */` }], rules, isThere)).toEqual([
      expect.stringMatching(/^a\.ts:2: /),
    ]);
  });

  it.each([
    'D8',
    'T1',
    'K1',
    'S3',
    'D8: why',
    'rules/room#transcript-window, 4',
    'architecture#jobs',
    'rules/room',
    'docs/adr/internal-http.md',
    'docs/architecture.md#jobs',
    'libs/infrastructure/nats/connect.ts',
    'https://example.org/docs/none.md',
    '%D8',
    'P1D9',
    'RFC 9110 §13',
  ])('accepts the citation %s', (what) => {
    expect(findUnresolved([{ path: 'a.ts', text: `/** Why (${what}). */` }], rules, isThere)).toEqual([]);
  });

  it('reports rules that no test cites', () => {
    const more = readRules([
      { path: 'docs/rules/a.md', text: '# A\n\n## B\n\nText.\n\n- **D1** one\n  line\n\n## C\n\n- **D2** two\n' },
    ]);
    expect(listUnnamed([{ path: 'a.test.ts', text: 'D1 rules/a#c' }], more)).toEqual(['D2', 'rules/a#b']);
    expect(listUnnamed([{ path: 'a.test.ts', text: 'D2 rules/a#b' }], more)).toEqual(['D1']);
  });

  it('rejects two rules with the same id', () => {
    const page = { path: 'docs/rules/room.md', text: '# Room\n\n- **D8** one\n- **D8** two\n' };
    expect(() => readRules([page])).toThrow('defined twice: D8');
  });
});
