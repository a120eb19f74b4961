import { describe, expect, it } from '@jest/globals';
import type { HttpContext } from '#libs/http';
import { createAuthenticate } from './auth.ts';

const apiToken = 'tøken-of-the-platform';
const authenticate = createAuthenticate({
  apiToken,
  loginSecret: 's'.repeat(400),
  sessions: { verify: () => Promise.reject(new Error('not asked')), forget: () => {} },
  refuseLogin: () => Promise.reject(new Error('refused')),
});
const withHeaders = (headers: Record<string, string>): HttpContext =>
  ({ req: { headers, socket: {} }, state: { requestId: 'r', traceparent: '', trustedProxyHops: 0 } }) as unknown as HttpContext;
const admit = (token: string): unknown => authenticate('shared', withHeaders({ authorization: `Bearer ${token}` }));

describe('the shared token (rules/access#classes-of-routes)', () => {
  it('is admitted as it is, whatever the case of the scheme', () => {
    expect(admit(apiToken)).toEqual({ kind: 'shared' });
    expect(authenticate('shared', withHeaders({ authorization: `bEARER  ${apiToken}` }))).toEqual({ kind: 'shared' });
  });

  it.each([
    ['the beginning of it', apiToken.slice(0, -1)],
    ['more behind it', `${apiToken}x`],
    ['another last character', `${apiToken.slice(0, -1)}X`],
    ['another encoding of a character', apiToken.replace('ø', '\u00f8\u0301')],
    ['zeros behind it', `${apiToken}${'\0'.repeat(300)}`],
    ['a long text', 'x'.repeat(10_000)],
  ])('is not %s', (_name, token) => {
    expect(() => admit(token)).toThrow('Authentication is required.');
  });

  it('is refused right after it was admitted, and admitted right after a refusal', () => {
    expect(admit(apiToken)).toEqual({ kind: 'shared' });
    expect(() => admit('t')).toThrow('Authentication is required.');
    expect(admit(apiToken)).toEqual({ kind: 'shared' });
  });
});

describe('the key of the login (rules/access#login)', () => {
  it('is compared to its end', async () => {
    expect(authenticate('login-gate', withHeaders({ 'x-svc-api-key': 's'.repeat(400) }))).toBeUndefined();
    for (const key of ['s'.repeat(399), 's'.repeat(401), `${'s'.repeat(399)}S`, '']) {
      await expect(authenticate('login-gate', withHeaders({ 'x-svc-api-key': key }))).rejects.toThrow('refused');
    }
  });
});
