import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { describeFolderProblem, makePrivateDir } from './private-dir.ts';

let parent: string;
let dir: string;
const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'coherence-private-'));
  dir = join(parent, '.data');
});
afterEach(() => rmSync(parent, { recursive: true, force: true }));

describe('the data folder of npm start', () => {
  it('creates the data folder with access for its owner only', () => {
    makePrivateDir(join(dir, 'deep'));
    expect(modeOf(join(dir, 'deep'))).toBe('700');
  });

  it.each([
    ['/proc/coherence/data', /^\/proc\/coherence cannot be created there\. Choose another folder: COHERENCE_DATA_DIR=/],
    ['/dev/null/data', /^\/dev\/null exists and is not a folder\. Choose another folder/],
    ['/dev/null', /^\/dev\/null exists and is not a folder\./],
    [`/tmp/${'x'.repeat(300)}`, /cannot be created there/],
  ])('rejects immediately a data folder that cannot be created: %s', (path, message) => {
    expect(() => makePrivateDir(path)).toThrow(message);
  });

  it.each([
    ['ENOSPC', /^The disk of .* is full\. Free some space and start again \(the data is kept\)/],
    ['EROFS', /^\/a\/b is on a read-only file system\. Choose another folder/],
    ['EACCES', /^\/a\/b is not writable by this user\. Choose another folder/],
  ])('explains in a readable sentence why the data folder is unusable: %s', (code, message) => {
    expect(describeFolderProblem(dir, Object.assign(new Error(code), { code, path: '/a/b' }))).toMatch(message);
    expect(describeFolderProblem(dir, Object.assign(new Error(code), { code: 'ECONNREFUSED' }))).toBeUndefined();
  });

  it('restricts an existing data folder and its contents to the owner, without following links out of it', () => {
    mkdirSync(join(dir, 'logs'), { recursive: true });
    for (const [file, mode] of [
      ['logs/media.log', 0o644],
      ['environment.json', 0o666],
      ['tool', 0o755],
    ] as const) {
      writeFileSync(join(dir, file), '');
      chmodSync(join(dir, file), mode);
    }
    const outside = join(parent, 'outside');
    writeFileSync(outside, '');
    chmodSync(outside, 0o644);
    symlinkSync(outside, join(dir, 'link'));
    chmodSync(dir, 0o755);
    makePrivateDir(dir);
    expect(['', 'logs', 'logs/media.log', 'environment.json', 'tool'].map((path) => modeOf(join(dir, path)))).toEqual([
      '700',
      '700',
      '600',
      '600',
      '700',
    ]);
    expect(modeOf(outside)).toBe('644');
  });
});
