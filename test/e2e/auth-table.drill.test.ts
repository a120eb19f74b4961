/**
 * Tests every gateway route with every type of credential. The expected result depends only on the auth class of the
 * route.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { AuthClass, Route } from '#libs/infrastructure/contract';
import { type IdentityProvider, startIdentityProvider } from '#libs/product/testing';
import { routes } from '../../services/api-gateway/routes/index.ts';
import { isRelease } from '../drill.ts';
import { applyDemo, startTestPlatform } from './test-platform.ts';
import type { TestPlatform } from './test-platform.ts';

const credentials = [
  'none',
  'cookie only',
  'malformed',
  'shared',
  'per-user',
  'per-user with coherence access',
  'superuser',
  'ops viewer',
  'ops operator',
  'chat agent',
  'expired',
  'revoked',
  'deactivated',
  'per-user without a person',
  'identity token',
  'identity token with coherence access',
  'identity token of a superuser',
  'identity token of nobody',
  'identity token of a deactivated account',
  'identity token for another audience',
  'identity token that is over',
] as const;
type Credential = (typeof credentials)[number];

/**
 * The expected result for the credential. `admitted` means that authentication passes and the body, the parameters or
 * the handler determine the response.
 */
type Verdict =
  | 'admitted'
  | 'unauthorized'
  | 'invalid credentials'
  | 'per-user token required'
  | 'coherence access required'
  | 'person required'
  | 'login required'
  | 'operators only';

const users: readonly Credential[] = [
  'per-user',
  'per-user with coherence access',
  'superuser',
  'ops viewer',
  'ops operator',
  'chat agent',
  'per-user without a person',
  'identity token',
  'identity token with coherence access',
  'identity token of a superuser',
];
/** Tokens with all login capabilities of their account (S1). */
const logins: Readonly<Record<string, Credential>> = {
  'identity token': 'per-user',
  'identity token with coherence access': 'per-user with coherence access',
  'identity token of a superuser': 'superuser',
};
/** Operations without a body or an id: other credentials are rejected immediately (S5). */
const forLogins = ['listSessions'];
const admitAll = () => 'admitted' as const;

/** rules/access#classes-of-routes; D12, D13, D30, D40. A missing class is a compile error. */
const classes: Readonly<Record<AuthClass, (credential: Credential) => Verdict>> = {
  none: admitAll,
  'shared-or-user': (credential) =>
    credential === 'shared' || users.includes(credential) ? 'admitted' : 'unauthorized',
  user: (credential) =>
    credential === 'shared' ? 'per-user token required' : users.includes(credential) ? 'admitted' : 'unauthorized',
  coherence: (credential) => {
    if (credential === 'shared') return 'per-user token required';
    if (['per-user', 'ops viewer', 'ops operator', 'chat agent', 'per-user without a person'].includes(credential))
      return 'coherence access required';
    return users.includes(credential) ? 'admitted' : 'unauthorized';
  },
  shared: (credential) => (credential === 'shared' ? 'admitted' : 'unauthorized'),
  v1: (credential) => {
    if (credential === 'per-user without a person') return 'person required';
    return users.includes(credential) ? 'admitted' : 'unauthorized';
  },
  'login-gate': () => 'invalid credentials',
  ops: (credential) => {
    if (['superuser', 'ops viewer', 'ops operator'].includes(credential)) return 'admitted';
    return users.includes(credential) ? 'operators only' : 'unauthorized';
  },
  'ops-act': (credential) => {
    if (['superuser', 'ops operator'].includes(credential)) return 'admitted';
    return users.includes(credential) ? 'operators only' : 'unauthorized';
  },
};

/** Operations that also check a right of the account, and return 403 without it (W5, W7, W8). */
const checksRight = ({ scope, operationId }: Route): boolean =>
  ['workspace:read', 'workspace:write', 'accounts:write'].includes(scope ?? '') ||
  ['deleteConversation', 'restoreConversation', 'listConversationNotes', 'getConversationTimeline'].includes(
    operationId,
  );

const message = expect.any(String);
const refusals: Readonly<Record<Exclude<Verdict, 'admitted'>, { status: number; api: unknown; v1: unknown }>> = {
  unauthorized: {
    status: 401,
    api: { detail: 'Unauthorized' },
    v1: { code: 'unauthenticated', message, retryable: false },
  },
  'invalid credentials': {
    status: 401,
    api: { detail: 'Unauthorized' },
    v1: { code: 'unauthenticated', message: 'Invalid credentials.', retryable: false },
  },
  'per-user token required': {
    status: 403,
    api: { detail: message, error: 'per_user_token_required', message },
    v1: { code: 'per_user_token_required', message, retryable: false },
  },
  'coherence access required': {
    status: 403,
    api: { detail: message, error: 'coherence_access_required', message },
    v1: { code: 'coherence_access_required', message, retryable: false },
  },
  'person required': {
    status: 403,
    api: { detail: message },
    v1: { code: 'permission_denied', message: 'This account has no person.', retryable: false },
  },
  'login required': {
    status: 403,
    api: { detail: message },
    v1: {
      code: 'permission_denied',
      message: 'This operation requires a token of a login with email and password.',
      retryable: false,
    },
  },
  'operators only': {
    status: 403,
    api: { detail: message },
    v1: { code: 'permission_denied', message, retryable: false },
  },
};

/** Returns the expected result of the route for the credential. */
function judge({ auth, operationId, forChatAgents }: Route, credential: Credential): Verdict | 'no class' {
  if (credential === 'chat agent' && forChatAgents === true) return 'admitted';
  const login = logins[credential];
  if (login !== undefined && forLogins.includes(operationId)) return 'login required';
  return (classes[auth] as ((given: Credential) => Verdict) | undefined)?.(login ?? credential) ?? 'no class';
}

let provider: IdentityProvider;
let platform: TestPlatform;
let headers: Readonly<Record<Credential, Record<string, string>>>;
beforeAll(async () => {
  provider = await startIdentityProvider();
  platform = await startTestPlatform(import.meta.url, {
    OIDC_ISSUER: provider.issuer,
    OIDC_AUDIENCE: provider.audience,
    OUTBOUND_ALLOWED_HOSTS: provider.host,
  });
  await applyDemo(platform, 'table');
  await platform.apply({
    people: [
      { key: 'gone', name: 'Gone' },
      { key: 'left', name: 'Left' },
      { key: 'looker', name: 'Looker' },
      { key: 'doer', name: 'Doer' },
      { key: 'chatter', name: 'Chatter' },
    ],
    accounts: [
      {
        email: 'gone-table@example.org',
        person: 'gone',
        password: 'secret-of-gone-table',
        groups: ['coherence_users'],
      },
      { email: 'left-table@example.org', person: 'left', password: 'secret-of-left-table' },
      {
        email: 'looker-table@example.org',
        person: 'looker',
        password: 'secret-of-looker-table',
        groups: ['ops_viewers'],
      },
      {
        email: 'chatter-table@example.org',
        person: 'chatter',
        password: 'secret-of-chatter-table',
        groups: ['chat_agents'],
      },
      { email: 'doer-table@example.org', person: 'doer', password: 'secret-of-doer-table', groups: ['ops_operators'] },
    ],
  });
  const login = (name: string): Promise<string> =>
    platform.login(`${name}-table@example.org`, `secret-of-${name}-table`);
  const [user, coherence, superuser, viewer, operator, chatAgent, expired, revoked, deactivated, personless] =
    await Promise.all(['ben', 'ada', 'root', 'looker', 'doer', 'chatter', 'ada', 'ada', 'gone', 'left'].map(login));
  const unlinked = await platform.sql(
    `update directory.accounts set person_id = null where email = 'left-table@example.org' returning 1`,
  );
  expect(unlinked).toHaveLength(1);
  const expiry = await platform.sql(
    "update directory.login_sessions set expires_at = now() - interval '1 second' where session_key = $1 returning 1",
    [/^svc_agentic_([a-z0-9]{32})_/.exec(expired ?? '')?.[1]],
  );
  expect(expiry).toHaveLength(1);
  expect((await platform.call('POST', '/api/v1/auth/logout', { token: revoked ?? '' })).status).toBe(200);
  await platform.ask('accounts', 'deactivate', 'gone-table@example.org');
  for (const name of ['ben', 'ada', 'root', 'gone'])
    await platform.ask('accounts', 'link', `${name}-table@example.org`, '--subject', name);
  const minuteAgo = Math.floor(Date.now() / 1000) - 60;
  const [known, knownCoherence, knownSuperuser, unknown, ended, elsewhere, over] = await Promise.all(
    [
      { sub: 'ben' },
      { sub: 'ada' },
      { sub: 'root' },
      { sub: 'nobody' },
      { sub: 'gone' },
      { sub: 'root', aud: 'https://other.example.org' },
      { sub: 'root', exp: minuteAgo },
    ].map((claims) => provider.sign(claims)),
  );
  const bearer = (token = ''): Record<string, string> => ({ authorization: `Bearer ${token}` });
  headers = {
    none: {},
    'cookie only': { cookie: `token=${user}; sessionid=${superuser}; authorization=Bearer ${platform.sharedToken}` },
    malformed: bearer(`${user}x`),
    shared: bearer(platform.sharedToken),
    'per-user': bearer(user),
    'per-user with coherence access': bearer(coherence),
    superuser: bearer(superuser),
    'ops viewer': bearer(viewer),
    'ops operator': bearer(operator),
    'chat agent': bearer(chatAgent),
    expired: bearer(expired),
    revoked: bearer(revoked),
    deactivated: bearer(deactivated),
    'per-user without a person': bearer(personless),
    'identity token': bearer(known),
    'identity token with coherence access': bearer(knownCoherence),
    'identity token of a superuser': bearer(knownSuperuser),
    'identity token of nobody': bearer(unknown),
    'identity token of a deactivated account': bearer(ended),
    'identity token for another audience': bearer(elsewhere),
    'identity token that is over': bearer(over),
  };
});
afterAll(async () => {
  await platform.stop();
  await provider.stop();
});

/** Returns a path of the route to a missing object, so that an admitted call changes nothing. */
function nowhere({ path, params }: Route): string {
  const { properties = {} } = (params ?? {}) as { properties?: Record<string, { type?: string }> };
  return path.replace(/\{([a-z_]+)\}/g, (_all, name: string) =>
    properties[name]?.type === 'integer' ? '2147483647' : 'nothing-of-that-name',
  );
}

/**
 * Calls the route with the credential. JSON bodies are malformed, so that admitted calls are rejected right after
 * authentication, before any effect.
 */
function ask(route: Route, credential: Credential) {
  const body = route.body === undefined ? {} : { body: '{' };
  // The console sign-in accepts only requests from pages of the server itself (S3).
  return platform.call(route.method, nowhere(route), {
    token: null,
    headers: { origin: platform.baseUrl, ...headers[credential] },
    ...body,
  });
}

const table = routes.flatMap((route) =>
  credentials.map((credential) => ({
    title: `${route.method} ${route.path}`,
    credential,
    route,
    verdict: judge(route, credential),
  })),
);

/**
 * A release run tests all combinations. Otherwise each route is tested with one credential per expected result, and the
 * credential varies by route.
 */
const asked = isRelease
  ? table
  : routes.flatMap((route, index) =>
      [
        ...Map.groupBy(
          table.filter((entry) => entry.route === route),
          ({ verdict }) => verdict,
        ).values(),
      ].flatMap((alike) => alike[index % alike.length] ?? []),
    );

describe('the route table by credential (rules/access#classes-of-routes, rules/access#operators; D12, D13, D30, D40, S1, S5)', () => {
  it('defines an access class for every route', () => {
    expect(table.filter(({ verdict }) => verdict === 'no class').map(({ title }) => title)).toEqual([]);
    expect(table.length).toBe(routes.length * credentials.length);
  });

  it.each(asked.filter(({ verdict }) => verdict !== 'admitted'))(
    '$title returns "$verdict" with the credential: $credential',
    async ({ route, credential, verdict }) => {
      const refusal = refusals[verdict as Exclude<Verdict, 'admitted'>];
      const answer = await ask(route, credential);
      expect([answer.status, answer.json]).toEqual([
        refusal.status,
        /^\/api\/(v1|ops)\//.test(route.path) ? refusal.v1 : refusal.api,
      ]);
      expect(answer.headers.get('www-authenticate')).toBe(refusal.status === 401 ? 'Bearer' : null);
    },
  );

  it.each(asked.filter(({ verdict }) => verdict === 'admitted'))(
    '$title accepts the credential: $credential',
    async ({ route, credential }) => {
      const answer = await ask(route, credential);
      if (route.body === undefined) expect(checksRight(route) ? [401] : [401, 403]).not.toContain(answer.status);
      else expect([answer.status, answer.json]).toEqual([400, { detail: 'Cannot parse request body' }]);
      expect(answer.status).toBeLessThan(500);
    },
  );
});
