import { describe, expect, it } from '@jest/globals';
import { isObjectKey } from './manifest.ts';

describe('isObjectKey (rules/operations#backups)', () => {
  it.each(['audio/5/-D7wgI1IEkq7HFJMnWQxfP7xVnck6-x2.mp3', 'thumbnails/1/_x2.jpg', 'logos/12/a.b.png'])(
    'accepts the object key %s, whose random name starts with a special character',
    (key) => {
      expect(isObjectKey(key)).toBe(true);
    },
  );

  it.each([
    '',
    '/etc/passwd',
    '../x',
    'audio/../x',
    'audio/./x',
    'audio/.x',
    'audio//x',
    'audio/x/',
    'Audio/x',
    '-audio/x',
    'audio/\u0000',
    'a\\b',
  ])('rejects the object key %j, which could address another path', (key) => {
    expect(isObjectKey(key)).toBe(false);
  });
});
