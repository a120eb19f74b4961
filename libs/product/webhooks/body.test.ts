import { describe, expect, it } from '@jest/globals';
import { decodeBody, readWebhookBody } from './body.ts';

const fields = { lines: new Set(['name']), addresses: new Set(['email']), texts: new Set(['text']) };
const read = (body: string | Buffer): unknown => readWebhookBody(Buffer.from(body as string), fields);
const utf16be = (text: string): Buffer => Buffer.from(text, 'utf16le').swap16();
const booking = '{"name":"Zo\u00eb"}';

describe('readWebhookBody and decodeBody (rules/webhooks#text; D106)', () => {
  it.each([
    ['U+0000', String.raw`{"a":"x\u0000y"}`, { a: 'xy' }],
    ['U+0000 as a byte', '{"a":"x\0y"}\0', { a: 'xy' }],
    ['an unpaired surrogate', String.raw`{"a":"x\ud83d","b":"\udc00"}`, { a: 'x\ufffd', b: '\ufffd' }],
    ['a complete surrogate pair', String.raw`{"a":"\ud83d\ude00"}`, { a: '\u{1f600}' }],
    [
      'invalid characters in nested values',
      String.raw`{"a":[{"b":["\u0000","\ud800"]}]}`,
      { a: [{ b: ['', '\ufffd'] }] },
    ],
    ['object keys', String.raw`{"a\u0000":1,"b\ud800":{"c\u0000":"\u0000"}}`, { a: 1, 'b\ufffd': { c: '' } }],
    ['an invalid key after the same valid key', String.raw`{"uid":"right","uid\u0000":"wrong"}`, { uid: 'right' }],
    ['an invalid key before the same valid key', String.raw`{"uid\u0000":"wrong","uid":"right"}`, { uid: 'right' }],
    [
      'line breaks in a name',
      String.raw`{"name":"Ada\r\n\tL.\u202e","email":"a\n@b.org","text":"one\ntwo\u0007"}`,
      {
        name: 'Ada L.',
        email: 'a@b.org',
        text: 'one\ntwo',
      },
    ],
    ['a number outside the range of a double', '{"a":1e99999,"b":12}', { a: null, b: 12 }],
    ['a byte order mark', '\ufeff{"a":1}', { a: 1 }],
  ])('repairs %s in a webhook body', (_what, body, document) => expect(read(body)).toEqual(document));

  it('reads `__proto__` and `constructor` as ordinary keys', () => {
    expect(Object.keys(read('{"__proto__":{"x":1},"constructor":2}') as object)).toEqual(['__proto__', 'constructor']);
  });

  it.each([
    ['UTF-8', Buffer.from(booking)],
    ['UTF-8 with a byte order mark', Buffer.from(`\ufeff${booking}`)],
    ['UTF-16 little-endian', Buffer.from(booking, 'utf16le')],
    ['UTF-16 little-endian, with a byte order mark', Buffer.from(`\ufeff${booking}`, 'utf16le')],
    ['UTF-16 big-endian', utf16be(booking)],
    ['UTF-16 big-endian, with a byte order mark', utf16be(`\ufeff${booking}`)],
  ])('decodes a webhook body in %s', (_encoding, body) => {
    expect(decodeBody(body)).toBe(booking);
    expect(read(body)).toEqual({ name: 'Zo\u00eb' });
  });

  it('replaces bytes of another encoding by U+FFFD', () => {
    expect(read(Buffer.from(booking, 'latin1'))).toEqual({ name: 'Zo\ufffd' });
  });

  it.each([
    '',
    '{',
    '[]',
    '"text"',
    'null',
    `{"a":${'['.repeat(64)}${']'.repeat(64)}}`,
    `{"a":${'['.repeat(1e6)}${']'.repeat(1e6)}}`,
  ])('returns undefined for the webhook body %.20s', (body) => expect(read(body)).toBeUndefined());

  it('reads a webhook body with the maximum nesting depth', () => {
    expect(read(`{"a":${'['.repeat(63)}${']'.repeat(63)}}`)).toBeDefined();
  });
});
