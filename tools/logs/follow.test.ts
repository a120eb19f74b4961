import { appendFileSync, mkdtempSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { FollowedFile, mergeByTime } from './follow.ts';

let dir: string;
let path: string;
let followed: FollowedFile;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'logs-'));
  path = join(dir, 'media.log');
  followed = new FollowedFile(path);
});
afterEach(() => {
  followed.close();
  rmSync(dir, { recursive: true, force: true });
});

describe('FollowedFile', () => {
  it('yields the last existing lines, then each new line once it is complete', () => {
    writeFileSync(path, 'a\nb\nc\n');
    expect(followed.read(2)).toEqual(['b', 'c']);
    expect(followed.read(2)).toEqual([]);
    const [before, after] = [Buffer.from('dä').subarray(0, 2), Buffer.from('dä').subarray(2)];
    appendFileSync(path, before);
    expect(followed.read(2)).toEqual([]);
    appendFileSync(path, Buffer.concat([after, Buffer.from('\ne\nf\n')]));
    expect(followed.read(2)).toEqual(['dä', 'e', 'f']);
  });

  it('waits for a log file that does not exist yet', () => {
    expect(followed.read(2)).toEqual([]);
    writeFileSync(path, 'first\n');
    expect(followed.read(2)).toEqual(['first']);
  });

  it('reads a rotated log file to its end, and continues with the new file', () => {
    writeFileSync(path, 'a\n');
    followed.read(2);
    appendFileSync(path, 'b\n');
    renameSync(path, `${path}.1`);
    expect(followed.read(2)).toEqual(['b']);
    appendFileSync(`${path}.1`, 'c\nunfinished');
    writeFileSync(path, 'd\n');
    expect(followed.read(2)).toEqual(['c', 'unfinished', 'd']);
    appendFileSync(path, 'e\n');
    expect(followed.read(2)).toEqual(['e']);
  });

  it('restarts at the beginning of a truncated log file', () => {
    writeFileSync(path, 'a long line\n');
    followed.read(2);
    truncateSync(path);
    appendFileSync(path, 'b\n');
    expect(followed.read(2)).toEqual(['b']);
  });

  it('yields only complete lines as the last lines of a long log', () => {
    writeFileSync(path, `${'x'.repeat(100_000)}\nlast\n`);
    expect(followed.read(10)).toEqual(['last']);
  });
});

describe('mergeByTime', () => {
  it('orders lines of several logs by time, and lines without a time after their previous line', () => {
    const at = (second: number, text: string): string => `{"time":"2026-01-01T00:00:0${second}.000Z","msg":"${text}"}`;
    const [one, two] = [
      [at(1, 'a'), '  at somewhere', at(4, 'd')],
      [at(2, 'b'), at(3, 'c')],
    ];
    expect(mergeByTime([one, two])).toEqual([one[0], one[1], two[0], two[1], one[2]]);
  });
});
