/** What CI clones may be without: tags, and history. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { findPreviousCommit } from './previous-release.ts';

const folder = mkdtempSync(join(tmpdir(), 'releases-'));
afterAll(() => rmSync(folder, { recursive: true }));

const identity = ['-c', 'user.name=Test', '-c', 'user.email=test@example.org'];
const git = (dir: string, ...args: string[]): string =>
  execFileSync('git', [...identity, ...args], {
    cwd: join(folder, dir),
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();

git('.', 'init', '--quiet', 'origin');
const [first = '', second = '', last = ''] = ['first', 'second', 'last'].map((message) => {
  git('origin', 'commit', '--quiet', '--allow-empty', '--message', message);
  return git('origin', 'rev-parse', 'HEAD');
});
for (const [tag, commit] of [
  ['v0.1.0', first],
  ['v0.2.0', second],
  ['v0.3.0', last],
] as const)
  git('origin', 'tag', '--annotate', '--message', tag, tag, commit);

function clone(name: string, ...args: string[]): string {
  git('.', 'clone', '--quiet', ...args, `file://${join(folder, 'origin')}`, name);
  return join(folder, name);
}

describe('the previous release', () => {
  it('is the last tag of another version, whether HEAD has its own tag already or not', () => {
    const dir = clone('full');
    expect(findPreviousCommit(dir, '0.3.0', 'none')).toBe(second);
    expect(findPreviousCommit(dir, '0.4.0', 'none')).toBe(last);
  });

  it('is the recorded commit in a clone without tags', () => {
    expect(findPreviousCommit(clone('tagless', '--no-tags'), '0.3.0', first)).toBe(first);
  });

  it('is fetched into a clone without history', () => {
    const dir = clone('shallow', '--depth', '1', '--no-tags');
    expect(findPreviousCommit(dir, '0.3.0', first)).toBe(first);
    expect(git('shallow', 'show', '--format=%s', first)).toBe('first');
    expect(() => findPreviousCommit(dir, '0.3.0', '0'.repeat(40))).toThrow(
      'is not in this clone and cannot be fetched',
    );
  });
});
