import { describe, expect, it } from '@jest/globals';
import { decodeBody, readWebhookBody } from './body.ts';

const fields = { lines: new Set(['name']), words: new Set(['email']), texts: new Set(['text']) };
const read = (body: string | Buffer): unknown => readWebhookBody(Buffer.from(body as string), fields);
const utf16be = (text: string): Buffer => Buffer.from(text, 'utf16le').swap16();
const booking = '{"name":"Zo\u00eb"}';

describe('the text of a webhook (rules/webhooks#text; D106)', () => {
  it.each([
    ['U+0000', String.raw`{"a":"x\u0000y"}`, { a: 'xy' }],
    ['U+0000 as a byte', '{"a":"x\0y"}\0', { a: 'xy' }],
    ['half of a surrogate pair', String.raw`{"a":"x\ud83d","b":"\udc00"}`, { a: 'x\ufffd', b: '\ufffd' }],
    ['a whole pair', String.raw`{"a":"\ud83d\ude00"}`, { a: '\u{1f600}' }],
    ['what is wrong deep inside', String.raw`{"a":[{"b":["\u0000","\ud800"]}]}`, { a: [{ b: ['', '\ufffd'] }] }],
    ['keys', String.raw`{"a\u0000":1,"b\ud800":{"c\u0000":"\u0000"}}`, { a: 1, 'b\ufffd': { c: '' } }],
    ['a key beside the right one', String.raw`{"uid":"right","uid\u0000":"wrong"}`, { uid: 'right' }],
    ['a key before the right one', String.raw`{"uid\u0000":"wrong","uid":"right"}`, { uid: 'right' }],
    [
      'a name of two lines',
      String.raw`{"name":"Ada\r\n\tL.\u202e","email":"a\n@b.org","text":"one\ntwo\u0007"}`,
      {
        name: 'Ada L.',
        email: 'a@b.org',
        text: 'one\ntwo',
      },
    ],
    ['a number that no store takes', '{"a":1e99999,"b":12}', { a: null, b: 12 }],
    ['a byte order mark', '\ufeff{"a":1}', { a: 1 }],
  ])('repairs %s', (_what, body, document) => expect(read(body)).toEqual(document));

  it('leaves keys of the language as data', () => {
    expect(Object.keys(read('{"__proto__":{"x":1},"constructor":2}') as object)).toEqual(['__proto__', 'constructor']);
  });

  it.each([
    ['UTF-8', Buffer.from(booking)],
    ['UTF-8 with a byte order mark', Buffer.from(`\ufeff${booking}`)],
    ['UTF-16, little end first', Buffer.from(booking, 'utf16le')],
    ['UTF-16, little end first, with a byte order mark', Buffer.from(`\ufeff${booking}`, 'utf16le')],
    ['UTF-16, big end first', utf16be(booking)],
    ['UTF-16, big end first, with a byte order mark', utf16be(`\ufeff${booking}`)],
  ])('reads %s', (_encoding, body) => {
    expect(decodeBody(body)).toBe(booking);
    expect(read(body)).toEqual({ name: 'Zo\u00eb' });
  });

  it('keeps what a byte of another encoding is in', () => {
    expect(read(Buffer.from(booking, 'latin1'))).toEqual({ name: 'Zo\ufffd' });
  });

  it.each(['', '{', '[]', '"text"', 'null', `{"a":${'['.repeat(64)}${']'.repeat(64)}}`, `{"a":${'['.repeat(1e6)}${']'.repeat(1e6)}}`])(
    'reads no object in %.20s',
    (body) => expect(read(body)).toBeUndefined(),
  );

  it('reads what is nested as deeply as allowed', () => {
    expect(read(`{"a":${'['.repeat(63)}${']'.repeat(63)}}`)).toBeDefined();
  });
});
