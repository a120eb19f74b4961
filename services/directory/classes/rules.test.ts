import { describe, expect, it } from '@jest/globals';
import { AppError } from '#libs/infrastructure/errors';
import { type JsonObject, parseJson } from '#libs/infrastructure/json';
import { checkInfoFields, readInfoFields } from './rules.ts';

const fields = readInfoFields([
  {
    key: 'about',
    fields: [
      { key: 'title', type: 'text' },
      { key: 'story', type: 'long_text' },
      { key: 'body', type: 'rich_text' },
      { key: 'theme', type: 'select', options: ['a', 'b'] },
      { key: 'tags', type: 'multi_select', options: [{ value: 'x', label: 'X' }, { key: 'y' }] },
      { key: 'seats', type: 'number' },
      { key: 'open', type: 'boolean' },
    ],
  },
  {
    key: 'more',
    fields: [
      { key: 'since', type: 'date' },
      { key: 'site', type: 'url' },
      { key: 'clip', type: 'video' },
      { key: 'slides', type: 'slideshow' },
      { key: 'title', type: 'number' },
      { key: 'locations', type: 'text' },
    ],
  },
]);
const check = (given: JsonObject) => checkInfoFields(fields, given);

describe('info fields (rules/holons#update-a-holon; D46a)', () => {
  it('accepts a valid value of every info field type', () => {
    const given = {
      title: 't',
      story: 's\ns',
      theme: ['b'],
      tags: ['x', 'y'],
      seats: 1.5,
      open: false,
      since: '2024-02-29',
      site: 'https://example.org',
      clip: 'http://example.org/v.mp4',
    };
    expect(check(given)).toEqual({ set: given, remove: [] });
  });

  it('sanitises rich text, trims addresses, and preserves every digit of a number', () => {
    const { set } = check(
      parseJson(
        '{"body": "<p onclick=x>a</p><script>b</script>", "site": " https://a.org ", "seats": 12345678901234567890}',
      ) as JsonObject,
    );
    expect(JSON.stringify(set)).toBe('{"body":"<p>a</p>","site":"https://a.org","seats":12345678901234567890}');
  });

  it('drops unknown and duplicate options silently', () => {
    expect(check({ theme: ['a', 'zzz', 'a'], tags: ['X', 'q'] }).set).toEqual({ theme: ['a'], tags: [] });
  });

  it('removes the value of an info field with null', () => {
    expect(check({ theme: null, seats: null, open: true })).toEqual({
      set: { open: true },
      remove: ['theme', 'seats'],
    });
  });

  it.each<[string, unknown]>([
    ['nope', 1],
    ['locations', 'x'],
    ['__proto__', {}],
    ['constructor', 'x'],
    ['slides', []],
    ['slides', null],
    ['theme', 'a'],
    ['theme', [1]],
    ['theme', [null]],
    ['tags', { x: 1 }],
    ['clip', 'ftp://a.org/v'],
    ['clip', 'javascript:alert(1)'],
    ['clip', 'https://'],
    ['clip', ['https://a.org']],
    ['site', 'example.org'],
    ['title', 5],
    ['story', {}],
    ['body', ['x']],
    ['seats', '5'],
    ['open', 'true'],
    ['since', '2023-02-29'],
    ['since', '2024-2-9'],
    ['since', 20240101],
  ])('rejects the info field %s = %j and names the field', (key, value) => {
    const given = Object.fromEntries([
      ['open', true],
      [key, value],
    ]);
    const error = ((): unknown => {
      try {
        return check(given);
      } catch (thrown) {
        return thrown;
      }
    })();
    expect(error).toBeInstanceOf(AppError);
    expect((error as AppError).toBody()).toEqual({ code: 'bad_request', message: expect.stringContaining(key) });
  });

  it.each(['title', 'story', 'body'])('accepts at most 100,000 characters of %s', (key) => {
    expect(check({ [key]: 'x'.repeat(100_000) }).set).toHaveProperty(key);
    expect(() => check({ [key]: 'x'.repeat(100_001) })).toThrow('is longer than 100000 characters');
  });

  it('ignores malformed info field groups', () => {
    for (const groups of [
      undefined,
      null,
      'x',
      [1, { fields: 'x' }, { fields: [null, { key: 1, type: 'text' }, { key: 'a' }] }],
    ])
      expect(readInfoFields(groups).size).toBe(0);
  });
});
