import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { findUnmatched, listPatterns, listTestFiles, readProjects } from './test-files.ts';

const root = join(import.meta.dirname, '..', '..');
const projects = await readProjects(root);
const files = listTestFiles(projects, root);

describe('test file arguments of npm test', () => {
  it.each([
    [
      ['libs/infrastructure/json', 'test/e2e'],
      ['libs/infrastructure/json', 'test/e2e'],
    ],
    [
      ['a.test.ts', '-t', 'some title', 'b.test.ts'],
      ['a.test.ts', 'b.test.ts'],
    ],
    [['--testNamePattern', 'title'], []],
    [['--selectProjects', 'unit', 'e2e', '--silent', 'libs/infrastructure/json'], ['libs/infrastructure/json']],
    [['--testNamePattern=title', 'x'], ['x']],
  ])('converts the arguments %j to the patterns %j', (args, patterns) => expect(listPatterns(args)).toEqual(patterns));

  it('selects the test files of each project', () => {
    expect(files).toEqual(
      expect.arrayContaining([
        'tools/test/test-files.test.ts',
        'test/e2e/upgrade.release.test.ts',
        'test/helm/rendered.test.ts',
      ]),
    );
    expect(listTestFiles(projects, root, ['helm']).every((file) => file.startsWith('test/helm/'))).toBe(true);
  });

  it('accepts a part of a path, a whole path and a regular expression in any case', () => {
    expect(
      findUnmatched(
        ['json', join(root, 'libs/infrastructure/json/json.test.ts'), 'LIBS/infrastructure/js.n', 'test/e2e/'],
        files,
        root,
      ),
    ).toEqual([]);
  });

  it.each([
    ['libs/jsn/json.test.ts', 'libs/infrastructure/json/json.test.ts'],
    ['tets-files', 'tools/test/test-files.test.ts'],
    ['test/e2e/upgrades', 'test/e2e/upgrade.release.test.ts'],
  ])('suggests for the argument %s the file %s', (pattern, file) => {
    const [message, ...more] = findUnmatched(['libs/infrastructure/json', pattern], files, root);
    expect(message).toContain(`No test file matches "${pattern}". Similar names:\n`);
    expect(message?.split('\n').map((line) => line.trim())).toContain(file);
    expect(more).toEqual([]);
  });

  it('suggests no file for an unknown name when no file has a similar name', () => {
    expect(findUnmatched(['qqqxxxzzz'], files, root)).toEqual(['No test file matches "qqqxxxzzz".']);
  });

  it('rejects an unknown test file before any server starts', () => {
    const { status, stderr } = spawnSync(process.execPath, ['tools/test/main.ts', 'libs/jsn'], {
      cwd: root,
      encoding: 'utf8',
      timeout: 60_000,
    });
    expect([status, stderr]).toEqual([1, expect.stringContaining('No test file matches "libs/jsn"')]);
  });
});

describe('watchdog of tests', () => {
  it('ends a blocked process, and names the running test', () => {
    const watchdog = join(root, 'test', 'jest', 'watchdog.ts');
    const script = `const { watch } = await import(${JSON.stringify(watchdog)}); watch({ what: 'a.test.ts: first', limitMs: 60_000 });
      watch({ what: 'a.test.ts: loops', limitMs: 300 }); for (;;);`;
    const { signal, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      encoding: 'utf8',
      timeout: 60_000,
    });
    expect([signal, stderr]).toEqual(['SIGKILL', expect.stringContaining('HANGS for 0.3 s, ended: a.test.ts: loops')]);
  });

  it('does not end a process after the watch was stopped', () => {
    const watchdog = join(root, 'test', 'jest', 'watchdog.ts');
    const script = `const { watch } = await import(${JSON.stringify(watchdog)}); watch({ what: 'a.test.ts', limitMs: 60_000 }); watch(undefined);`;
    expect(
      spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8', timeout: 60_000 }).status,
    ).toBe(0);
  });
});
