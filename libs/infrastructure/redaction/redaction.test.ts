import { describe, expect, it } from '@jest/globals';
import { parseJson } from '#libs/infrastructure/json';
import { redactBody, redactHeaders, redactJson, redactText } from './index.ts';

const session = 'svc_agentic_k3v8q0w5n1x7c2m9b4h6j8l0p2r4t6y8_Tq7Zc1Xn5Vb9Mk3Lp0Jh6Gf2Ds8Aq4We7Rt1Yu5I';
const jwt = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl';

describe('redaction of secrets for operators (P2)', () => {
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
  ])('redacts the value of the field %s', (name) => {
    expect(redactJson({ [name]: 'x-1' })).toEqual({ [name]: '[redacted]' });
    expect(redactJson({ [name]: { any: ['x-1'] } })).toEqual({ [name]: '[redacted]' });
  });

  it('does not redact numbers, flags, empty values and fields with similar names', () => {
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
  ])('redacts by the form of the secret: %s', (text, shown) => {
    expect(redactJson({ note: [text] })).toEqual({ note: [shown] });
    expect(redactBody(text)).toBe(shown);
  });

  it('redacts secrets in field names, at every displayed depth', () => {
    expect(redactJson({ [session]: 1 })).toEqual({ '[redacted]': 1 });
    let deep: unknown = 'x';
    for (let level = 0; level < 1_000; level++) deep = [deep];
    expect(JSON.stringify(redactJson({ deep }))).toContain('[redacted]');
  });

  it('returns a body without secrets unchanged, including numbers and white space', () => {
    for (const body of ['{ "id": 12345678901234567890, "at": 1.0 }', 'a=1&b=2', 'plain text', '[]', '', '"text"'])
      expect(redactBody(body)).toBe(body);
  });

  it('preserves every digit of numbers in a redacted body', () => {
    expect(redactBody('{ "id": 12345678901234567890, "pass\\u0077ord": "x" }')).toBe(
      '{"id":12345678901234567890,"password":"[redacted]"}',
    );
    expect(redactJson(parseJson('{"n": 12345678901234567890}'))).toEqual(parseJson('{"n": 12345678901234567890}'));
  });

  it('redacts secrets in form bodies and headers', () => {
    expect(redactBody('a=1&api_key=x%20y&b=2')).toBe('a=1&api_key=[redacted]&b=2');
    expect(
      redactHeaders({ authorization: 'Basic eA==', 'x-cal-signature-256': 'ab', 'content-type': 'a/b', cookie: '' }),
    ).toEqual({
      authorization: '[redacted]',
      'x-cal-signature-256': '[redacted]',
      'content-type': 'a/b',
      cookie: '',
    });
  });

  it('redacts a form value until the next field', () => {
    expect(redactBody('a=stays&password=two words&b=2')).toBe('a=stays&password=[redacted]&b=2');
  });

  it('redacts a long body of any content in linear time', () => {
    // Each text has a quarter of the maximum length. With quadratic time, the test would take hours.
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
      '"password":',
      '"password":"',
      '"password":"\\\\',
      '\\\\"a',
      '{"secret":[',
      'password: ',
      'password:a ',
      'Authorization: ',
      'a%26token%3D',
      'SG.aaaaaaaaaaaaaaaaaaaa',
      'sk-aaaaaaaaaaaa',
      'token ',
      'x-',
    ])
      expect(redactBody(part.repeat(1_048_576 / part.length)).length).toBeGreaterThan(0);
  });
});

const x = 'Zq7w'; // contained in each secret below
const b64 = (text: string): string => Buffer.from(text).toString('base64');

/** Bodies, error texts and log lines in which `Zq7w` is part of the secret and `stays` is not. */
const forms: readonly (readonly [what: string, text: string])[] = [
  ['the password of a meeting link', `https://zoom.example.org/j/812?stays=1&pwd=${x}Ab.1`],
  ['the same in a JSON text', `{"location":"https://zoom.example.org/j/812?pwd=${x}","a":"stays"}`],
  ['the same in a sentence', `Join at https://zoom.example.org/j/812?pwd=${x}#success, stays`],
  ['a passcode', `{"passcode":"${x}","a":"stays"}`],
  ['a passcode in an invitation', `stays\nMeeting ID: 812 1111\nPasscode: 9${x}\n`],
  ['a passcode in another language', `stays\nKenncode: 9${x}`],
  ['a numeric pin', '{"pin":90210,"a":"stays"}'],
  ['a numeric pin, camel case', '{"dialInPin":90210,"a":"stays"}'],
  ['a numeric password', '{"password":90210,"a":"stays"}'],
  ['a numeric pin in a sentence', 'Dial in, PIN: 90210, stays'],
  ['a pin of another field', '{"pin_code":"90210","a":"stays"}'],
  ['JSON inside a string', JSON.stringify({ a: 'stays', body: JSON.stringify({ password: x }) })],
  [
    'JSON inside JSON inside a string',
    JSON.stringify({ a: 'stays', b: JSON.stringify({ c: JSON.stringify({ password: x }) }) }),
  ],
  ['JSON inside a string that is cut', `{"a":"stays","body":"{\\"password\\":\\"${x} y`],
  ['JSON that is cut within a secret', `{"a":"stays","password":"${x} y`],
  ['JSON that is cut behind a secret', `{"password":"${x} \\" y","a":"stays","b":`],
  ['JSON that is cut, with an object', `{"credentials":{"user":"u","pass":{"b":"${x}"}},"a":"stays","b":`],
  ['JSON among words', `stays: {"client_secret": "${x}", "b": 1}`],
  ['JSON with single quotes', `{'password': '${x}', 'a': 'stays'}`],
  ['a bot token in an address', `https://api.telegram.org/bot4242:${x}-short/sendMessage?stays`],
  ['a bot token', `stays 123456789:AAE-abcdefghijklmnopqrstuvw${x}xyz`],
  ['a key of Cal.com', `stays cal_live_${x}0123456789abcdef`],
  ['Authorization: Token', `stays\nAuthorization: Token ${x}abcdef`],
  ['Authorization: Token in a command', `curl -H 'Authorization: Token ${x}abcdef' https://stays.example.org`],
  ['Authorization: Bearer, upper case', `stays\nAUTHORIZATION: BEARER ${x}abcdef0`],
  ['Bearer in a sentence', `stays Bearer ${x}abcdef0`],
  ['Basic', `stays Basic ${b64(`ann:${x}`)}`.replace(x, x)],
  ['a header of an own name', `stays\nX-Api-Key: ${x}`],
  ['cookies', `stays\nCookie: sid=${x}; theme=${x}`],
  ['cookies that are set', `stays\r\nSet-Cookie: sid=${x}; Path=/; HttpOnly`],
  ['cookies in JSON', `{"headers":{"Set-Cookie":["sid=${x}; Path=/"]},"a":"stays"}`],
  ['a list of headers', `{"headers":[{"name":"Authorization","value":"Token ${x}"},{"name":"Host","value":"stays"}]}`],
  ['an answer of a form', `{"responses":[{"label":"Password","value":"${x}"}],"a":"stays"}`],
  ['GitLab', `stays glpat-${x}0123456789abcdef`],
  ['GitHub, fine-grained', `stays github_pat_11${x}0123456789_abcdef`],
  ['GitHub', `stays ghp_${x}0123456789abcdef`],
  ['GitHub behind an escape', `stays%20ghs_${x}0123456789abcdef \\ngho_${x}0123456789abcdef`],
  ['Stripe', `stays sk_live_${x}0123456789`],
  ['Stripe, restricted', `stays rk_test_${x}0123456789`],
  ['Slack', `stays xoxb-12345678-${x}`],
  ['the address of a hook', `stays https://hooks.slack.com/services/T01/B02/${x}`],
  ['AWS', `stays AKIAZQ7W0123456789AB`.replace('ZQ7W', 'ZQ7W')],
  ['OpenAI', `stays sk-proj-${x}0123456789`],
  ['Google', `stays AIza${x}0123456789abcdefghijklmnopqrstu`],
  ['SendGrid', `stays SG.${x}0123456789abcdef.${x}0123456789abcdef`],
  ['a JWT', `stays eyJhbGciOiJSUzI1NiJ9.eyJz${x}.c2ln${x}`],
  ['a JWT that is cut', `stays eyJhbGciOiJSUzI1NiJ9.eyJz${x}`],
  [
    'a private key',
    `stays\n-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0\n\n${x}\n-----END RSA PRIVATE KEY-----`,
  ],
  [
    'a private key in JSON',
    JSON.stringify({ a: 'stays', k: `-----BEGIN OPENSSH PRIVATE KEY-----\n${x}\n-----END OPENSSH PRIVATE KEY-----\n` }),
  ],
  ['a private key that is cut', `stays -----BEGIN EC PRIVATE KEY-----\nMHc-${x}`],
  ['our key', `stays svc_key_abcdefghijkl_${x}abcdef`],
  ['our session', `stays svc_agentic_abc_${x}abcdef`],
  ['our secret of a webhook', `stays whsec_${x}0123456789=`],
  ['a form', `stays=1&api_key=${x}%20y&b=2`],
  ['a form with brackets', `a=stays&user%5Bpassword%5D=${x}`],
  ['a code that is exchanged', `grant_type=stays&code=${x}&code_verifier=${x}`],
  ['user and password of an address', `postgresql://ann:${x}@stays:5432/x`],
  ['a password with @', `postgresql://ann:p@${x}@stays:5432/x`],
  ['an address as PHP writes it', `https:\\/\\/ann:${x}@stays`],
  ...[
    'X-Amz-Signature',
    'X-Amz-Security-Token',
    'X-Goog-Signature',
    'sig',
    'token',
    'access_token',
    'api_key',
    'apikey',
    'key',
    'secret',
  ].map((name) => [`${name} of an address`, `https://stays.example.org/x?a=1&${name}=${x}&b=2`] as const),
  ...[
    'client_secret',
    'refresh_token',
    'id_token',
    'code',
    'password',
    'passwd',
    'auth',
    'jwt',
    'otp',
    'X-AMZ-SIGNATURE',
  ].map((name) => [`${name} of an address`, `GET /x?${name}=${x} HTTP/1.1 stays`] as const),
  ['a fragment', `https://stays.example.org/#access_token=${x}&state=1`],
  [
    'an address within an address',
    `https://stays.example.org/?next=https%3A%2F%2Fb.example.org%2F%3Fa%3D1%26token%3D${x}%26b%3D2`,
  ],
  ...[
    'password',
    'userPassword',
    'user_password',
    'user-password',
    'USER_PASSWORD',
    'accessToken',
    'access-token',
    'clientSecret',
  ].map((name) => [`a field ${name}`, `{"${name}":"${x}","a":"stays"}`] as const),
  ...[
    'apiKey',
    'api-key',
    'X-API-KEY',
    'privateKey',
    'signing_key',
    'webhookSecret',
    'sessionId',
    'mfaCode',
    'smtpPass',
    'db.password',
  ].map((name) => [`a field ${name}`, `{"${name}":{"b":["${x}"]},"a":"stays"}`] as const),
  ['a setting', `stays DB_PASSWORD=${x}`],
  ['a setting in quotes', `stays password="${x} ${x}"`],
  ['a setting with spaces', `password = ${x}1 # stays`],
  ['a line of YAML', `a: stays\npassword: ${x}\nb: 1`],
  ['a sentence', `The password is ${x}1, stays`],
  ['a password of letters', `stays\npassword: swordfish${x}`],
];

describe('forms of secrets', () => {
  it.each(forms)('%s', (_what, text) => {
    for (const shown of [
      redactBody(text),
      redactText(text),
      JSON.stringify(redactJson({ note: [text] })),
      redactBody(JSON.stringify({ text })),
    ]) {
      expect(shown).not.toMatch(new RegExp(`${x}|ZQ7W|90210|${b64(`ann:${x}`)}`));
      expect(shown).toContain('[redacted]');
      expect(shown).toContain('stays');
      expect(shown).not.toContain('[redacted]]');
    }
    expect(redactText(redactText(text))).toBe(redactText(text));
  });

  it.each([
    'Basic training for the token exchange',
    'Basic understanding, bearer of good news, digest of articles',
    'The secretary keeps the cookies in a pantry',
    'Invalid password: too short',
    'password: must have at least 8 characters',
    'The password is required; password is not set',
    'pin the message; shopping: apples; opinion: good; spinning=1',
    'Unexpected token < in JSON at position 0',
    'code: 42P01, key: value, status_code=404, postal_code=12345',
    'https://example.org/path?q=passwords&page=2&sort=key',
    'https://example.org:8080/a@b',
    'mailto:ann@example.org, ann@example.org',
    'tokens=512 max_tokens=8 prompt_tokens: 12',
    '{"tokens":512,"total_tokens":"8","token_type":"Bearer","token_url":"https://a.example.org","expires_in":3600}',
    '{"usage":{"tokens":{"prompt":5}},"cookiePolicy":"strict","signature_algorithm":"RS256","has_password":true}',
    '{"secretary":"Bob","tokenizer":"cl100k","authors":["a"],"authMethod":"oidc","keyboard":"qwerty","compass":"north"}',
    '{"name":"Ann","value":"plain"}',
    '{"code":"not_found","message":"There is no such key."}',
    '2026-05-01T10:00:00Z 12:30:45 1234567:8',
    'sk-learn-based-models and sk-toolkit-examples',
    'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk',
    '0f8fad5b-d9cb-469f-a165-70867728950e',
  ])('does not redact plain words: %s', (text) => {
    expect(redactText(text)).toBe(text);
    expect(redactBody(text)).toBe(text);
    expect(redactJson({ text })).toEqual({ text });
  });
});
