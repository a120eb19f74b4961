import { describe, expect, it } from '@jest/globals';
import { parseJson } from '#libs/json';
import { redactBody, redactHeaders, redactJson } from './index.ts';

const session = 'svc_agentic_k3v8q0w5n1x7c2m9b4h6j8l0p2r4t6y8_Tq7Zc1Xn5Vb9Mk3Lp0Jh6Gf2Ds8Aq4We7Rt1Yu5I';
const jwt = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl';

describe('secrets in what operators look at (P2)', () => {
  it.each([
    'token',
    'access_token',
    'refreshToken',
    'videohost_refresh_token',
    'X-Api-Key',
    'api_key',
    'apikey',
    'password',
    'PASSWD',
    'client_secret',
    'webhookSecret',
    'Authorization',
    'Set-Cookie',
    'private_key',
    'credentials',
    'sig',
  ])('go by the name %s', (name) => {
    expect(redactJson({ [name]: 'x-1' })).toEqual({ [name]: '[redacted]' });
    expect(redactJson({ [name]: { any: ['x-1'] } })).toEqual({ [name]: '[redacted]' });
  });

  it('are none where a number, a flag or nothing stands, or the name only sounds like one', () => {
    const value = {
      tokens: 512,
      max_tokens: '8',
      token_type: 'Bearer',
      password: '',
      secret: null,
      has_token: true,
      key: 'a',
      authors: 'b',
    };
    expect(redactJson(value)).toBe(value);
  });

  it.each([
    [session, '[redacted]'],
    [`svc_key_abcdefghijkl_${'a'.repeat(43)}`, '[redacted]'],
    [`say Bearer ${jwt} to it`, 'say Bearer [redacted] to it'],
    [`its token is ${jwt}.`, 'its token is [redacted].'],
    ['123456789:AAE-abcdefghijklmnopqrstuvwxyz012345', '[redacted]'],
    [`whsec_${'A'.repeat(43)}=`, '[redacted]'],
    ['postgresql://role:pass@db:5432/x', 'postgresql://[redacted]@db:5432/x'],
    [
      'https://s3.example.org/b/k?X-Amz-Credential=a&X-Amz-Signature=0f&part=2',
      'https://s3.example.org/b/k?X-Amz-Credential=[redacted]&X-Amz-Signature=[redacted]&part=2',
    ],
    ['-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----', '[redacted]'],
  ])('go by their form: %s', (text, shown) => {
    expect(redactJson({ note: [text] })).toEqual({ note: [shown] });
    expect(redactBody(text)).toBe(shown);
  });

  it('are found in names of fields, and as deep as anybody looks', () => {
    expect(redactJson({ [session]: 1 })).toEqual({ '[redacted]': 1 });
    let deep: unknown = 'x';
    for (let level = 0; level < 1_000; level++) deep = [deep];
    expect(JSON.stringify(redactJson({ deep }))).toContain('[redacted]');
  });

  it('leave a body without any as it came, numbers and spaces included', () => {
    for (const body of ['{ "id": 12345678901234567890, "at": 1.0 }', 'a=1&b=2', 'plain text', '[]', '', '"text"'])
      expect(redactBody(body)).toBe(body);
  });

  it('keep every digit of a body that is written anew', () => {
    expect(redactBody('{ "id": 12345678901234567890, "pass\\u0077ord": "x" }')).toBe('{"id":12345678901234567890,"password":"[redacted]"}');
    expect(redactJson(parseJson('{"n": 12345678901234567890}'))).toEqual(parseJson('{"n": 12345678901234567890}'));
  });

  it('go from forms and headers', () => {
    expect(redactBody('a=1&api_key=x%20y&b=2')).toBe('a=1&api_key=[redacted]&b=2');
    expect(redactHeaders({ authorization: 'Basic eA==', 'x-cal-signature-256': 'ab', 'content-type': 'a/b', cookie: '' })).toEqual({
      authorization: '[redacted]',
      'x-cal-signature-256': '[redacted]',
      'content-type': 'a/b',
      cookie: '',
    });
  });

  it('cost the longest body little, whatever it is made of', () => {
    for (const part of [
      'eyJ',
      'eyJaaaaaaaa-',
      'svc_key_a-',
      'sk-a',
      '://a',
      '1234567:',
      'Bearer ',
      '-----BEGIN PRIVATE KEY-----',
      '?a',
      'a',
      '=',
      '&token',
    ])
      expect(redactBody(part.repeat(4_194_304 / part.length)).length).toBeGreaterThan(0);
  });
});
