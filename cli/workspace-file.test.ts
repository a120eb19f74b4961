import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readWorkspaceFile, type Path } from './workspace-file.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'workspace-file-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function read(text: string, env: Record<string, string> = {}): ReturnType<typeof readWorkspaceFile> {
  const file = join(folder, 'file.yaml');
  writeFileSync(file, text);
  return readWorkspaceFile(file, env);
}

describe('line numbers in a workspace file', () => {
  const text = [
    'people:',
    '  - key: a',
    '    contact:',
    '      email: x',
    '  - {key: b, name: B}',
    '# end',
    'holons: [',
    '  {slug: c}',
    ']',
  ].join('\n');
  it.each<[Path, number]>([
    [['people'], 1],
    [['people', 0], 2],
    [['people', 0, 'contact', 'email'], 4],
    [['people', 0, 'contact', 'missing'], 3],
    [['people', 1, 'name'], 5],
    [['holons', 0, 'slug'], 8],
    [['holons', 7, 'slug'], 7],
    [['nothing'], 1],
    [[], 1],
  ])('finds %j in line %d', (path, line) => {
    expect(read(text).lineOf(path)).toBe(line);
  });

  it('reports the line of a value that an alias refers to', () => {
    const file = read('people:\n  - &a\n    key: a\n    name: 5\n  - *a\n');
    expect(file.lineOf(['people', 1, 'name'])).toBe(4);
  });
});

describe('aliases of a workspace file', () => {
  const half = 'x'.repeat(8 * 1_048_576 - 2);
  const list = (count: number, alias: string): string => `[${Array.from({ length: count }, () => alias).join(', ')}]`;

  it('expands aliases to at most sixteen million characters', () => {
    const { document } = read(`a: &a "${half}"\nb: ${list(2, '*a')}\n`);
    expect((document as { b: string[] }).b.map((text) => text.length)).toEqual([half.length, half.length]);
  });

  it.each([
    ['a long text', `a: &a "${half}"\nb: [*a,\n  *a,\n  *a]\n`, 4],
    ['a short text many times', `a: &a "${'x'.repeat(100_000)}"\nb:\n  - ${list(9_000, '*a')}\n`, 3],
    ['aliases in aliases', `a: &a "${'x'.repeat(10_000)}"\nb: &b ${list(90, '*a')}\nc: ${list(90, '*b')}\n`, 3],
    ['merges', `a: &a {x: "${half}"}\nb: {<<: *a}\nc: {<<: [*a, *a]}\n`, 3],
  ])('rejects aliases that expand to more characters: %s', (_name, text, line) => {
    expect(() => read(text)).toThrow(
      `file.yaml:${line}: aliases up to here make the document more than 16777216 characters longer`,
    );
  });

  it('rejects an alias that refers to itself', () => {
    expect(() => read('a: &a [*a]')).toThrow('file.yaml:1: ');
  });
});

describe('a broken workspace file', () => {
  it('reports at most fifty errors of a workspace file', () => {
    expect(() => read('['.repeat(10_000))).toThrow(/^([^\n]+file\.yaml:1: [^\n]+(\n|$)){50}$/);
  });
});

describe('nesting depth of a workspace file', () => {
  const lists = (count: number): string => `${'['.repeat(count)}1${']'.repeat(count)}`;

  it('accepts a workspace file with 100 levels', () => {
    expect(read(`people: [{infos: {a: ${lists(96)}}}]\nend: 1\n`).problems).toEqual([]);
  });

  it.each([
    ['lists', `# x\npeople: [{infos: {a: ${lists(97)}}}]\n`, 2],
    ['objects', `people:\n  - infos: ${'{a: '.repeat(100)}1${'}'.repeat(100)}\n`, 2],
    ['JSON', `{"people": ${lists(100_000)}}`, 1],
    ['lists that never end', `people: ${'['.repeat(100_000)}`, 1],
    ['lines', Array.from({ length: 101 }, (_value, index) => `${' '.repeat(index)}a:\n`).join(''), 101],
    ['aliases', `a: &a ${lists(60)}\nb: ${'['.repeat(60)}*a${']'.repeat(60)}\n`, 1],
  ])('rejects a workspace file with more than 100 levels: %s', (_what, text, line) => {
    expect(() => read(text)).toThrow(new RegExp(`file\\.yaml:${line}: is nested more than 100 levels deep`));
  });
});

describe('YAML tags of a workspace file', () => {
  it('accepts YAML tags of JSON types', () => {
    expect(read('a: !!str 5\nb: !!int 5\nc: ! x\nd: !!map {x: !!null ""}\n').document).toEqual({
      a: '5',
      b: 5,
      c: 'x',
      d: { x: null },
    });
  });

  it.each([
    ['people:\n  - key: a\n    name: !name A\n', '3: the tag !name '],
    ['people: !!set {a}\n', '1: the tag !!set '],
    ['people:\n  - name: !!binary aGVsbG8=\n', '2: the tag !!binary '],
    ['a: 1\nday: !!timestamp 2026-05-01\n', '2: the tag !!timestamp '],
    ['a: !<tag:yaml.org,2002:js/function> x\n', '1: the tag !!js/function '],
    ['%TAG ! tag:example.org,2000:\n---\na: !x []\n', '3: the tag tag:example.org,2000:x '],
    ['!key a: 1\n', '1: the tag !key '],
  ])('rejects other YAML tags with their line: %j (D106)', (text, message) => {
    expect(() => read(text)).toThrow(`file.yaml:${message}`);
  });
});

describe('values of a workspace file', () => {
  it('preserves big integers, reads dates as text, and reads __proto__ as data', () => {
    const { document } = read('people: [{key: a, infos: {big: 9007199254740993, day: 2026-05-01, __proto__: {x: 1}}}]');
    expect(JSON.stringify(document)).toBe(
      '{"people":[{"key":"a","infos":{"big":9007199254740993,"day":"2026-05-01","__proto__":{"x":1}}}]}',
    );
  });

  it('resolves {env: NAME} only in passwords and in step and agent configuration', () => {
    const text = `
accounts: [{email: a@b.c, password: {env: SECRET}}]
agents: [{slug: g, config: {messaging: {bot_token: {env: SECRET}}}}]
journeys: [{slug: j, texts: {env: SECRET}, steps: [{slug: s, config: {token: {env: SECRET}, list: [{env: SECRET}]}}]}]
people: [{key: p, infos: {env: SECRET}}]
`;
    expect(read(text, { SECRET: 'found' })).toMatchObject({
      problems: [],
      document: {
        accounts: [{ password: 'found' }],
        agents: [{ config: { messaging: { bot_token: 'found' } } }],
        journeys: [{ texts: { env: 'SECRET' }, steps: [{ config: { token: 'found', list: ['found'] } }] }],
        people: [{ infos: { env: 'SECRET' } }],
      },
    });
  });

  it('reports the position of every unset variable', () => {
    const file = read(
      'accounts:\n  - email: a@b.c\n    password: {env: NO_A}\n  - email: b@b.c\n    password: {env: NO_B}\n  - email: c@b.c\n    password: {env: BLANK}\n',
      {
        NO_B: '',
        BLANK: ' \t',
      },
    );
    expect(file.problems.map(({ path, message }) => [file.lineOf(path), message])).toEqual([
      [3, 'the environment variable NO_A is not set'],
      [5, 'the environment variable NO_B is not set'],
      [7, 'the environment variable BLANK is blank'],
    ]);
  });

  it('accepts an empty workspace file', () => {
    expect(read('').document).toBeNull();
  });
});

describe('text that is not YAML or JSON', () => {
  it.each([
    ['people: [', /:\d+: /],
    ['a: 1\na: 2\n', /:2: .*unique/],
    ['a: 1\n---\nb: 2\n', /:\d+: .*documents/],
    ['a: *nobody\n', /:1: .*nobody/],
  ])('rejects %j and reports the line of the error', (text, message) => {
    expect(() => read(text)).toThrow(message);
  });

  it('rejects exponentially nested aliases and invalid UTF-8', () => {
    const bomb = [
      'a: &a [x,x,x,x,x,x,x,x,x,x]',
      ...'bcdefgh'.split('').map((name, index) => `${name}: &${name} [${`*${'abcdefgh'.charAt(index)},`.repeat(9)}x]`),
    ].join('\n');
    expect(() => read(bomb)).toThrow(/alias/i);
    const file = join(folder, 'latin1.yaml');
    writeFileSync(file, Buffer.from([0x61, 0x3a, 0x20, 0xe4]));
    expect(() => readWorkspaceFile(file)).toThrow('UTF-8');
  });
});
