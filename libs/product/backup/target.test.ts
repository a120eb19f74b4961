import { describe, expect, it } from '@jest/globals';
import { checkPath } from './target.ts';

describe('checkPath (rules/operations#backups)', () => {
  it.each(['manifest.json', 'objects/age-c16974b6/audio/5/-PLvvv1U5io.mp3', 'objects/plain/thumbnails/1/_x2.jpg'])(
    'accepts %s as the file name of a backup',
    (path) => {
      expect(checkPath(path)).toBe(path);
    },
  );

  it.each([
    '',
    '/etc/passwd',
    '../x',
    'objects/../x',
    'objects/./x',
    'objects/.x',
    'objects//x',
    'objects/x/',
    'a\u0000',
    'a\\b',
    'a b',
  ])('rejects the path %j, which could be outside of the backup target', (path) => {
    expect(() => checkPath(path)).toThrow('is not a name of a file of a backup');
  });
});
