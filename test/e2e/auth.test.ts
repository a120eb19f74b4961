import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { applyDemo, createConversation, eventually, startTestPlatform } from './test-platform.ts';
import type { Demo, TestPlatform } from './test-platform.ts';

let platform: TestPlatform;
let demo: Demo;
let conversation: number;
beforeAll(async () => {
  platform = await startTestPlatform(import.meta.url, { RATE_LIMIT_LOGIN_FAILURES: '5' });
  demo = await applyDemo(platform, 'auth');
  conversation = (await createConversation(platform, demo)).id;
});
afterAll(() => platform.stop());

const invalid = { code: 'unauthenticated', message: 'Invalid credentials.', retryable: false };
const login = (json: unknown, gate: string | null = platform.loginSecret) =>
  platform.call('POST', '/api/v1/auth/login', {
    token: null,
    json,
    headers: gate === null ? {} : { 'x-svc-api-key': gate },
  });
const whoami = (token: string | null) => platform.call('GET', '/api/v1/auth/whoami', { token });

describe('POST /api/v1/auth/login (rules/access#login; D40)', () => {
  it('returns a token in the documented format for valid credentials', async () => {
    const before = Date.now();
    const answer = await login({ email: ' ADA-auth@example.org '.trim(), password: 'secret-of-ada-auth' });
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({
      token: expect.stringMatching(/^svc_agentic_[a-z0-9]{32}_[A-Za-z0-9_-]{43}$/),
      token_type: 'Bearer',
      expires_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?\+00:00$/),
      expires_in_seconds: 86_400,
      person: {
        id: demo.ada,
        name: 'Ada',
        description: '',
        photo_url: null,
        actor_kind: 'human',
        contact: { email: 'ada-auth@example.org' },
      },
    });
    const lifeMs = 86_400_000;
    expect(Date.parse(answer.json.expires_at)).toBeGreaterThanOrEqual(before + lifeMs - 1_000);
    expect(Date.parse(answer.json.expires_at)).toBeLessThanOrEqual(Date.now() + lifeMs + 1_000);
  });

  it.each([
    ['a wrong password', { email: 'ada-auth@example.org', password: 'nope' }],
    ['an unknown email', { email: 'nobody@example.org', password: 'secret-of-ada-auth' }],
  ])('returns 401 for a login with %s', async (_name, body) => {
    const answer = await login(body);
    expect([answer.status, answer.json]).toEqual([401, invalid]);
  });

  it.each([null, '', 'wrong'])('rejects the gate key %j before it validates the body', async (gate) => {
    const answer = await login({ nonsense: true }, gate);
    expect([answer.status, answer.json]).toEqual([401, invalid]);
  });

  it('returns 422 for a login body without fields and with a valid gate key', async () => {
    const answer = await login({});
    expect([answer.status, answer.json.detail.map((item: any) => item.loc)]).toEqual([
      422,
      [
        ['body', 'payload', 'email'],
        ['body', 'payload', 'password'],
      ],
    ]);
  });

  it('returns 403 for the right password of an account without a person', async () => {
    await platform.apply({ accounts: [{ email: 'ghost@example.org', password: 'secret-of-ghost' }] });
    const answer = await login({ email: 'ghost@example.org', password: 'secret-of-ghost' });
    expect([answer.status, answer.json.code]).toEqual([403, 'permission_denied']);
    expect((await login({ email: 'ghost@example.org', password: 'x' })).status).toBe(401);
  });

  it('stores only the hash of a login token', async () => {
    const token = await platform.login('ada-auth@example.org', 'secret-of-ada-auth');
    const secret = token.slice(-43);
    expect(await platform.findInDatabase(secret)).toEqual([]);
    expect(await platform.findInDatabase('secret-of-ada-auth')).toEqual([]);
  });
});

describe('logout and revocation (rules/access#login)', () => {
  it('revokes only the current token at the logout', async () => {
    const [one, two] = [
      await platform.login('ada-auth@example.org', 'secret-of-ada-auth'),
      await platform.login('ada-auth@example.org', 'secret-of-ada-auth'),
    ];
    expect((await whoami(one)).json).toEqual({
      authenticated: true,
      person: expect.objectContaining({ id: demo.ada }),
      key: null,
    });
    const answer = await platform.call('POST', '/api/v1/auth/logout', { token: one });
    expect([answer.status, answer.json]).toEqual([200, { revoked: true }]);
    expect([(await whoami(one)).status, (await whoami(two)).status]).toEqual([401, 200]);
    expect((await platform.call('GET', `/api/coherence/conversations/${conversation}`, { token: one })).status).toBe(
      401,
    );
  });

  it.each([
    ['a changed password', ['accounts', 'set-password', 'ben-auth@example.org', '--password-env', 'NEW_PASSWORD']],
    ['deactivation', ['accounts', 'deactivate', 'root-auth@example.org']],
  ])('revokes access within a second after %s', async (_name, command) => {
    const email = command[2] as string;
    const token = await platform.login(email, `secret-of-${email.split('-')[0]}-auth`);
    expect((await whoami(token)).status).toBe(200);
    process.env['NEW_PASSWORD'] = 'changed-password';
    const result = await platform.cli(...command);
    expect([result.code, result.stdout.includes('changed-password')]).toEqual([0, false]);
    await eventually(async () => expect((await whoami(token)).status).toBe(401));
    expect((await login({ email, password: `secret-of-${email.split('-')[0]}-auth` })).status).toBe(401);
  });
});

describe('credentials per class (rules/access#classes-of-routes; D12, D30)', () => {
  const surfaces = [
    ['S', 'GET', () => `/api/coherence/conversations/${conversation}`],
    ['shared', 'GET', () => '/api/agents/none/'],
    ['U', 'POST', () => `/api/coherence/conversations/${conversation}/audio`],
    ['v1', 'GET', () => '/api/v1/auth/whoami'],
  ] as const;

  it.each(surfaces)(
    'returns 401 on %s for missing, cookie-only and malformed credentials',
    async (kind, method, path) => {
      for (const headers of [
        {},
        { cookie: `token=${platform.sharedToken}; sessionid=1` },
        { authorization: 'Bearer' },
        { authorization: `Basic ${platform.sharedToken}` },
        { authorization: `Bearer svc_agentic_${'a'.repeat(32)}_${'b'.repeat(43)}` },
        { authorization: `Bearer ${platform.sharedToken}x` },
      ]) {
        const answer = await platform.call(method, path(), { token: null, headers });
        expect([kind, headers, answer.status]).toEqual([kind, headers, 401]);
        if (kind !== 'v1') expect(answer.json).toEqual({ detail: 'Unauthorized' });
        else expect(answer.json).toMatchObject({ code: 'unauthenticated', retryable: false });
        expect(answer.headers.get('www-authenticate')).toBe('Bearer');
      }
    },
  );

  it('accepts the shared token on S and shared routes, and rejects it with 403 on U routes and with 401 on v1', async () => {
    const statuses: Record<string, number> = {};
    for (const [kind, method, path] of surfaces) statuses[kind] = (await platform.call(method, path())).status;
    expect(statuses).toEqual({ S: 200, shared: 404, U: 403, v1: 401 });
    const answer = await platform.call('POST', `/api/coherence/conversations/${conversation}/audio`);
    expect(answer.json).toEqual({
      detail: expect.any(String),
      error: 'per_user_token_required',
      message: expect.any(String),
    });
  });

  it('rejects a per-user token with 401 on routes of the shared token', async () => {
    const token = await platform.login('ada-auth@example.org', 'secret-of-ada-auth');
    expect((await platform.call('GET', '/api/agents/none/', { token })).status).toBe(401);
  });
});

describe('login throttle (rules/http#rate-limits)', () => {
  it('returns 429 with Retry-After after five failed logins with one email', async () => {
    const statuses: number[] = [];
    for (let round = 0; round < 6; round += 1)
      statuses.push((await login({ email: 'victim@example.org', password: 'x' })).status);
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
    const answer = await login({ email: 'Victim@example.org', password: 'x' });
    expect([answer.status, answer.json]).toEqual([
      429,
      { code: 'rate_limited', message: expect.any(String), retryable: true },
    ]);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await login({ email: 'ada-auth@example.org', password: 'secret-of-ada-auth' })).status).toBe(200);
  });
});
