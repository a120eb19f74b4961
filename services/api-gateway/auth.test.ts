import { describe, expect, it } from '@jest/globals';
import type { Route } from '#libs/infrastructure/contract';
import { AppError } from '#libs/infrastructure/errors';
import type { HttpContext } from '#libs/infrastructure/http';
import { createAuthenticate } from './auth.ts';
import type { Credential } from './credentials/cache.ts';
import { createSecretCheck } from './secrets.ts';

const apiToken = 'tøken-of-the-platform';
const none: Credential = { matches: () => false, verify: () => Promise.reject(new Error('asked')) };
const authenticate = createAuthenticate({
  isSharedToken: createSecretCheck([apiToken]),
  isGateKey: createSecretCheck(['s'.repeat(400)]),
  credentials: [],
  consoleSessions: none,
  refuseLogin: () => Promise.reject(new Error('refused')),
});
const shared = { auth: 'shared', scope: 'agents:read' } as const;
const withHeaders = (headers: Record<string, string>): HttpContext =>
  ({
    req: { headers, socket: {} },
    state: { requestId: 'r', traceparent: '', trustedProxyHops: 0 },
  }) as unknown as HttpContext;
const admit = (token: string): unknown => authenticate(shared, withHeaders({ authorization: `Bearer ${token}` }));

describe('the shared token (rules/access#classes-of-routes)', () => {
  it('accepts only the exact token, with any case of the scheme', () => {
    expect(admit(apiToken)).toEqual({ kind: 'shared' });
    expect(authenticate(shared, withHeaders({ authorization: `bEARER  ${apiToken}` }))).toEqual({ kind: 'shared' });
  });

  it.each([
    ['the beginning of it', apiToken.slice(0, -1)],
    ['more behind it', `${apiToken}x`],
    ['another last character', `${apiToken.slice(0, -1)}X`],
    ['another encoding of a character', apiToken.replace('ø', '\u00f8\u0301')],
    ['zeros behind it', `${apiToken}${'\0'.repeat(300)}`],
    ['a long text', 'x'.repeat(10_000)],
  ])('rejects as shared token: %s', (_name, token) => {
    expect(() => admit(token)).toThrow('Authentication is required.');
  });

  it('rejects a wrong token after an accepted one, and accepts the right token after a rejection', () => {
    expect(admit(apiToken)).toEqual({ kind: 'shared' });
    expect(() => admit('t')).toThrow('Authentication is required.');
    expect(admit(apiToken)).toEqual({ kind: 'shared' });
  });
});

describe('the gate key of the login (rules/access#login)', () => {
  it('compares the whole gate key', async () => {
    expect(authenticate({ auth: 'login-gate' }, withHeaders({ 'x-svc-api-key': 's'.repeat(400) }))).toBeUndefined();
    for (const key of ['s'.repeat(399), 's'.repeat(401), `${'s'.repeat(399)}S`, '']) {
      await expect(authenticate({ auth: 'login-gate' }, withHeaders({ 'x-svc-api-key': key }))).rejects.toThrow(
        'refused',
      );
    }
  });
});

describe('a service key (rules/access#scopes; K3, K4)', () => {
  const scopes = ['media:read', 'agents:read'];
  const actor = {
    kind: 'user',
    accountId: 1,
    personId: 2,
    superuser: false,
    globalEditor: false,
    coherenceAccess: false,
    key: { id: 'k', scopes },
  } as const;
  const asKey = (access: Pick<Route, 'auth' | 'scope'>, held: readonly string[] = scopes): unknown =>
    createAuthenticate({
      isSharedToken: createSecretCheck([apiToken]),
      isGateKey: createSecretCheck(['s']),
      credentials: [{ matches: () => true, verify: () => ({ ...actor, key: { id: 'k', scopes: held } }) }],
      consoleSessions: none,
      refuseLogin: () => Promise.reject(new Error('refused')),
    })(access, withHeaders({ authorization: 'Bearer key' }));

  it('accepts a key with the scope of the route or the scope `*`, and any key on routes without a scope', () => {
    expect(asKey({ auth: 'shared-or-user', scope: 'media:read' })).toEqual(actor);
    expect(asKey({ auth: 'shared-or-user', scope: 'media:write' }, ['*'])).toMatchObject({ accountId: 1 });
    expect(asKey({ auth: 'v1', scope: null })).toEqual(actor);
  });

  it('accepts a key on routes of the shared token if its scopes allow the route', () => {
    expect(asKey(shared)).toEqual(actor);
    expect(() => asKey(shared, ['media:read'])).toThrow('needs the scope agents:read');
  });

  it.each(['shared-or-user', 'user', 'coherence', 'v1', 'ops'] as const)(
    'rejects a key without the scope before other checks of the access class %s',
    (auth) => {
      const error = errorOf(() => asKey({ auth, scope: 'steps:read' }));
      expect(error.toBody()).toEqual({
        code: 'permission_denied',
        reason: 'insufficient_scope',
        message: 'This operation needs the scope steps:read; the key has media:read, agents:read.',
        details: { detail: error.message, required_scope: 'steps:read', scopes },
      });
    },
  );

  it('grants a key no more rights than its account', () => {
    expect(errorOf(() => asKey({ auth: 'coherence', scope: 'media:read' })).reason).toBe('coherence_access_required');
    expect(() => asKey({ auth: 'ops', scope: 'ops:read' }, ['*'])).toThrow('Only superusers');
  });
});

function errorOf(work: () => unknown): AppError {
  try {
    work();
  } catch (error) {
    if (error instanceof AppError) return error;
  }
  throw new Error('it was not refused');
}
