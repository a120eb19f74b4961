/**
 * Tests every gateway route with every kind of service key (K3, K4, K6). The expected result is derived from path and
 * method by the text of the rule, not from the table's scopes, so that a wrong declaration fails.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Route, type Scope, scopes } from '#libs/infrastructure/contract';
import { routes } from '../../services/api-gateway/routes/index.ts';
import { type Answer, applyDemo, startTestPlatform, type TestPlatform } from './test-platform.ts';

type Access = 'read' | 'write';
const usual =
  (area: 'conversations' | 'directory' | 'media' | 'ops' | 'steps' | 'workspace') =>
  (access: Access): Scope =>
    `${area}:${access}`;

/** The required scope by path (first match): K3 expressed as path patterns. */
const rule: readonly (readonly [RegExp, (access: Access) => Scope | null])[] = [
  [/^\/api\/v1\/auth\//, () => null],
  [/^\/api\/v1\/keys\b/, () => 'keys:write'],
  [/^\/api\/v1\/webhook-endpoints\b/, () => 'webhooks:write'],
  [/^\/api\/v1\/events\b/, () => 'events:read'],
  [/^\/api\/v1\/accounts\b/, () => 'accounts:write'],
  [/^\/api\/v1\/(?:agents|spheres)\b/, usual('workspace')],
  [/^\/api\/v1\/(?:classes|journeys)\/.*\/(?:history|questions)\b/, usual('workspace')],
  [/^\/api\/v1\/(?:classes|journeys)\b/, (access) => (access === 'read' ? 'directory:read' : 'workspace:write')],
  [/^\/api\/v1\/people\/\{person_id\}\/(?:export|erasure)$/, () => 'directory:write'],
  [/^\/api\/v1\//, usual('directory')],
  [/^\/api\/ops\//, usual('ops')],
  [/^\/api\/agents\//, () => 'agents:read'],
  [/^\/mcp$/, () => null],
  [/\/(?:audio|video|captions\.vtt)$/, usual('media')],
  [/\/transcripts?(?:\/|$)/, () => 'transcripts:read'],
  [/\/journeys\/\{journey_slug\}\/steps\b/, usual('steps')],
  [/^\/api\/coherence\/conversations$/, () => 'conversations:write'],
  [/^\/api\/coherence\/conversations\/\{conversation_id\}\/notes$/, () => 'conversations:write'],
  [/^\/api\/coherence\//, usual('conversations')],
];

function neededBy({ method, path }: Route): Scope | null {
  const found = rule.find(([pattern]) => pattern.test(path));
  if (found === undefined) throw new Error(`the rule says nothing of ${path}`);
  return found[1](method === 'GET' ? 'read' : 'write');
}

const guarded = routes.filter(({ auth }) => auth !== 'none' && auth !== 'login-gate');
const open = routes.filter(({ auth }) => auth === 'none');

let platform: TestPlatform;
/** Tokens of service keys by type of key. */
const tokens = new Map<string, string>();
/** Scopes of the valid keys. */
const held = new Map<string, readonly string[]>();
const bad = [
  'of an unknown id',
  'with a wrong secret',
  'expired',
  'revoked',
  'of a deactivated account',
  'rotated, after the overlap',
];
let login: string;

beforeAll(async () => {
  platform = await startTestPlatform(import.meta.url);
  await applyDemo(platform, 'scopes');
  await platform.apply({ accounts: [{ email: 'gone-scopes@example.org', person: 'ben-scopes' }] });
  login = await platform.login('root-scopes@example.org', 'secret-of-root-scopes');
  const make = async (
    name: string,
    own: readonly string[],
    more: object = {},
  ): Promise<{ id: string; token: string }> => {
    const { status, json } = await platform.call('POST', '/api/v1/keys', {
      token: login,
      json: { name, scopes: own, ...more },
    });
    expect(status).toBe(201);
    tokens.set(name, json.token);
    return { id: json.key.id, token: json.token };
  };
  const makeGood = async (name: string, own: readonly string[]): Promise<void> => {
    await make(name, own);
    held.set(name, own);
  };
  const rotate = (id: string) =>
    platform.call('POST', `/api/v1/keys/${id}/rotate`, { token: login, json: { overlap_seconds: 3600 } });
  for (const scope of scopes) {
    await makeGood(`with ${scope} alone`, [scope]);
    await makeGood(
      `with all but ${scope}`,
      scopes.filter((other) => other !== scope),
    );
  }
  await makeGood('with all', scopes);
  await makeGood('with *', ['*']);
  const within = await make('rotated, within the overlap', ['*']);
  held.set('rotated, within the overlap', ['*']);
  const after = await make('rotated, after the overlap', ['*']);
  for (const { id } of [within, after]) expect((await rotate(id)).status).toBe(200);
  const expired = await make('expired', ['*'], { expires_at: '2099-01-01T00:00:00Z' });
  const revoked = await make('revoked', ['*']);
  expect((await platform.call('POST', `/api/v1/keys/${revoked.id}/revoke`, { token: login })).status).toBe(200);
  const [gone] = await platform.sql<{ id: number }>(
    "select id from directory.accounts where email = 'gone-scopes@example.org'",
  );
  await make('of a deactivated account', ['*'], { account_id: gone?.id });
  await platform.ask('accounts', 'deactivate', 'gone-scopes@example.org');
  await platform.sql('update directory.service_keys set expires_at = now() where id = $1', [expired.id]);
  await platform.sql('update directory.service_keys set previous_until = now() where id = $1', [after.id]);
  tokens.set('of an unknown id', `svc_key_${'0'.repeat(20)}_${after.token.slice(-43)}`);
  tokens.set('with a wrong secret', `${within.token.slice(0, -43)}${after.token.slice(-43)}`);
});
afterAll(() => platform.stop());

/**
 * Calls a path of the route to a missing object, so that an admitted call changes nothing; JSON bodies are malformed.
 */
function ask({ method, path, params, body }: Route, token: string | null): Promise<Answer> {
  const { properties = {} } = (params ?? {}) as { properties?: Record<string, { type?: string }> };
  const nowhere = path.replace(/\{([a-z_]+)\}/g, (_all, name: string) =>
    properties[name]?.type === 'integer' ? '2147483647' : 'nothing-of-that-name',
  );
  // The console sign-in accepts only requests from pages of the server itself (S3).
  return platform.call(method, nowhere, {
    token,
    headers: { origin: platform.baseUrl },
    ...(body === undefined ? {} : { body: '{' }),
  });
}

const isEnveloped = ({ path }: Route): boolean => path.startsWith('/api/v1/') || path.startsWith('/api/ops/');

/** Returns `admitted`, or the rejection. */
function judge(route: Route, { status, json }: Answer): unknown {
  const isAdmitted = route.body === undefined ? status !== 401 && status !== 403 && status < 500 : status === 400;
  return isAdmitted ? 'admitted' : [status, json];
}

/** The error for operations on sessions, which keys do not have. Routes with a body or an id return it later (K10). */
const forLogins = [
  403,
  {
    code: 'permission_denied',
    message: 'This operation requires a token of a login with email and password.',
    retryable: false,
  },
];

function insufficient(route: Route, needed: string, own: readonly string[]): unknown {
  const message = `This operation needs the scope ${needed}; the key has ${own.join(', ')}.`;
  const body = { message, required_scope: needed, scopes: own };
  return [
    403,
    isEnveloped(route)
      ? { code: 'insufficient_scope', retryable: false, ...body }
      : { error: 'insufficient_scope', detail: message, ...body },
  ];
}

describe('the route table by service key (rules/access#scopes; K2, K3, K4, K6)', () => {
  it.each(guarded)(
    '$method $path accepts service keys with its scope, and rejects keys with all other scopes',
    async (route) => {
      const needed = neededBy(route);
      expect(route.scope).toBe(needed);
      const expected: Record<string, unknown> = {};
      const seen: Record<string, unknown> = {};
      for (const [name, own] of held) {
        const isAdmitted = needed === null || own.includes(needed) || own.includes('*');
        const admitted = route.operationId === 'listSessions' ? forLogins : 'admitted';
        expected[name] = isAdmitted ? admitted : insufficient(route, needed, own);
      }
      const refusal = isEnveloped(route)
        ? { code: 'unauthenticated', message: 'Authentication is required.', retryable: false }
        : { detail: 'Unauthorized' };
      for (const name of bad) expected[name] = [401, refusal];
      const waiting = Object.keys(expected);
      const lane = async (): Promise<void> => {
        for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
          seen[name] = judge(route, await ask(route, tokens.get(name) ?? ''));
        }
      };
      await Promise.all(Array.from({ length: 6 }, lane));
      // Scopes restrict keys only, so other credentials never get a missing-scope error.
      for (const token of [login, platform.sharedToken, null])
        expect((await ask(route, token)).json?.required_scope).toBeUndefined();
      expect(seen).toEqual(expected);
    },
  );

  it.each(open)('$method $path requires no credential, and ignores an invalid key', async (route) => {
    expect(judge(route, await ask(route, tokens.get('revoked') ?? ''))).toBe('admitted');
  });

  it('defines and documents a scope for every operation that requires a token', async () => {
    const documents = await Promise.all(
      ['/api/openapi.json', '/api/v1/openapi.json', '/api/ops/openapi.json'].map((path) =>
        platform.call('GET', path, { token: null }),
      ),
    );
    const named = new Map<string, unknown>();
    for (const { json } of documents) {
      for (const item of Object.values(
        json.paths as Record<string, Record<string, { operationId: string; security: object[] }>>,
      )) {
        for (const { operationId, security } of Object.values(item)) {
          named.set(
            operationId,
            security.find((entry) => 'serviceKey' in entry),
          );
        }
      }
    }
    const documented = routes.filter((route) => route.documented !== false);
    const expected = documented.map((route) => {
      if (!guarded.includes(route) || route.loginOnly === true) return [route.operationId, undefined];
      const needed = neededBy(route);
      return [route.operationId, { serviceKey: needed === null ? [] : [needed] }];
    });
    expect(documented.map(({ operationId }) => [operationId, named.get(operationId)])).toEqual(expected);
  });

  it('checks the scope of a key before coherence access (K4)', async () => {
    const ben = await platform.login('ben-scopes@example.org', 'secret-of-ben-scopes');
    const { json } = await platform.call('POST', '/api/v1/keys', {
      token: ben,
      json: { name: 'Steps', scopes: ['steps:read'] },
    });
    const path = '/api/coherence/journeys/journey-scopes/steps';
    expect((await platform.call('GET', path, { token: json.token })).json).toMatchObject({
      error: 'coherence_access_required',
    });
    expect((await platform.call('PATCH', `${path}/first/config`, { token: json.token, body: '{' })).json).toMatchObject(
      {
        error: 'insufficient_scope',
        required_scope: 'steps:write',
        scopes: ['steps:read'],
      },
    );
  });
});
