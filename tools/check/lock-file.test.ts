import { describe, expect, it } from '@jest/globals';
import { findLockProblems } from './lock-file.ts';

const integrity = `sha512-${'A'.repeat(86)}==`;
const sound = {
  '': { devDependencies: { tool: '1.0.0', alias: 'npm:@scope/other@^1.0.0 || ~2.1' } },
  'node_modules/tool': { version: '1.0.0', integrity, optionalDependencies: { '@tool/linux-x64': '1.0.0' } },
  'node_modules/alias': {
    version: '1.0.0',
    integrity,
    resolved: 'https://registry.npmjs.org/@scope/other/-/other-1.0.0.tgz',
  },
  'node_modules/@tool/linux-x64': { version: '1.0.0', integrity },
};

describe('the check of package-lock.json', () => {
  it('accepts packages of the registry with a hash each and for every platform', () => {
    expect(findLockProblems({ packages: sound })).toEqual([]);
  });

  it.each([
    ['no hash', { version: '1.0.0' }, /^node_modules\/tool: has no sha512 integrity$/],
    [
      'a hash that can be forged',
      { version: '1.0.0', integrity: 'sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=' },
      /has no sha512 integrity/,
    ],
    ['an empty hash', { version: '1.0.0', integrity: 'sha512-' }, /has no sha512 integrity/],
    [
      'another host',
      { version: '1.0.0', integrity, resolved: 'https://registry.npmjs.org.example.com/tool.tgz' },
      /comes from https:\/\/registry\.npmjs\.org\.example\.com/,
    ],
    [
      'no encryption',
      { version: '1.0.0', integrity, resolved: 'http://registry.npmjs.org/tool.tgz' },
      /comes from http:/,
    ],
    [
      'git',
      { version: '1.0.0', integrity, resolved: 'git+ssh://git@github.com/tool/tool.git#abc' },
      /comes from git\+ssh/,
    ],
    ['a folder', { link: true, resolved: '../tool' }, /is a link to a folder/],
    [
      'a missing platform',
      { version: '1.0.0', integrity, optionalDependencies: { '@tool/win32-x64': '1.0.0' } },
      /@tool\/win32-x64 is missing/,
    ],
  ])('rejects in the lock file a package with, or from, %s', (_what, item, problem) => {
    expect(findLockProblems({ packages: { ...sound, 'node_modules/tool': item } })).toEqual([
      expect.stringMatching(problem),
    ]);
  });

  it.each([
    'git+https://example.org/a.git',
    'github:a/b',
    'a/b',
    'https://example.org/a.tgz',
    'file:../a',
    './a',
    '../a',
  ])('rejects a dependency on "%s"', (spec) => {
    const packages = { ...sound, '': { dependencies: { tool: spec } } };
    expect(findLockProblems({ packages })).toEqual([expect.stringContaining(`package.json: tool is "${spec}"`)]);
  });

  it('finds a package that is nested beside its dependent', () => {
    const packages = {
      'node_modules/a': { version: '1.0.0', integrity },
      'node_modules/a/node_modules/b': { version: '1.0.0', integrity, optionalDependencies: { c: '^1.0.0' } },
      'node_modules/a/node_modules/c': { version: '1.2.0', integrity },
    };
    expect(findLockProblems({ packages })).toEqual([]);
  });
});
