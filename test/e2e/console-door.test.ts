/**
 * Attacks on the console session: which operations the cookie opens, from which origins, and which it must not open
 * (S3, P6, D76).
 */
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { routes } from '../../services/api-gateway/routes/index.ts';
import { type Answer, applyDemo, startTestPlatform, type TestPlatform } from './test-platform.ts';

let platform: TestPlatform;
let own: string;
beforeAll(async () => {
  platform = await startTestPlatform(
    import.meta.url,
    { RATE_LIMIT_LOGIN_PER_MINUTE: '60', RATE_LIMIT_LOGIN_FAILURES: '5', TRUSTED_PROXY_HOPS: '1' },
    { services: ['api-gateway', 'directory'] },
  );
  await applyDemo(platform, 'door');
  own = platform.baseUrl;
});
afterAll(() => platform.stop());

const root = { email: 'root-door@example.org', password: 'secret-of-root-door' };

function signIn(headers: Record<string, string> = { origin: own }, json: unknown = root): Promise<Answer> {
  return platform.call('POST', '/console/session', { token: null, headers, json });
}
async function takeCookie(): Promise<string> {
  const { status, headers } = await signIn();
  expect(status).toBe(200);
  return /^[^;]+/.exec(headers.get('set-cookie') ?? '')?.[0] ?? '';
}
const ask = (method: string, path: string, cookie: string, headers: Record<string, string> = {}): Promise<Answer> =>
  platform.call(method, path, { token: null, headers: { cookie, ...headers } });
const statusOf = async (answer: Promise<{ status: number }>): Promise<number> => (await answer).status;

/** Sends the raw path and headers: fetch would set `Host` and normalize the path. */
async function sendRaw(
  method: string,
  path: string,
  headers: Record<string, string>,
  json?: unknown,
): Promise<{ status: number; text: string; cookie: string }> {
  const asked = request(own, {
    method,
    path,
    headers: json === undefined ? headers : { ...headers, 'content-type': 'application/json' },
  });
  asked.end(json === undefined ? undefined : JSON.stringify(json));
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  return {
    status: answer.statusCode ?? 0,
    text: await readText(answer),
    cookie: answer.headers['set-cookie']?.[0] ?? '',
  };
}
const signInAt = (headers: Record<string, string>) => sendRaw('POST', '/console/session', headers, root);

/** Operations that the console may call. When you add one, add it here and state why it is safe. */
const reachable = [
  ['whoami', 'logout', 'getOverview', 'listAudit', 'listJobs', 'getJob', 'redriveJobs', 'cancelJobs'],
  ['listWebhooks', 'getWebhook', 'replayWebhooks', 'listPipelines', 'retryPipeline'],
  // Console users read and decide on visitor statements. Each operation checks the rights of the signed-in user.
  ['listAgents', 'listAgentKnowledge', 'approveAgentKnowledge', 'rejectAgentKnowledge'],
  ['listThreads', 'getThread', 'takeThread', 'sayInThread', 'handThreadBack'],
  ['listEvents', 'listWebhookEndpoints', 'getWebhookEndpoint', 'updateWebhookEndpoint', 'testWebhookEndpoint'],
  ['listWebhookDeliveries', 'redeliverWebhook', 'recoverWebhookEndpoint'],
  ['listKeys', 'createKey', 'getKey', 'rotateKey', 'revokeKey'],
  ['listPeople', 'getPerson', 'listPersonMemberships', 'listNotesOfPerson'],
  ['listHolons', 'getHolon', 'listHolonMemberships', 'listHolonRelationships', 'listNotesOfHolon'],
  ['searchTranscripts', 'getConversation', 'getConversationSummary', 'downloadTranscript'],
  ['getVideo', 'downloadCaptions', 'downloadAudio'],
].flat();

describe('console session cookie (S3)', () => {
  it('sets a session cookie that is HttpOnly, limited to the console, and Secure except on localhost', async () => {
    const here = await signIn();
    expect([here.status, here.json, here.headers.get('cache-control')]).toEqual([
      200,
      { person: expect.objectContaining({ name: 'Ben' }) },
      'no-store',
    ]);
    const token = 'svc_agentic_[a-z0-9]{32}_[A-Za-z0-9_-]{43}';
    expect(here.headers.get('set-cookie')).toMatch(
      new RegExp(`^coherence_console=${token}; Path=/console; HttpOnly; SameSite=Strict$`),
    );
    expect(here.text).not.toContain('svc_agentic');
    const there = await signInAt({ host: 'console.example.org', origin: 'https://console.example.org' });
    expect(there.cookie).toMatch(
      new RegExp(`^__Secure-coherence_console=${token}; Path=/console; HttpOnly; SameSite=Strict; Secure$`),
    );
  });

  it('rejects the session cookie on all API routes, and bearer tokens in the console', async () => {
    const cookie = await takeCookie();
    expect(await statusOf(ask('GET', '/console/api/v1/auth/whoami', cookie))).toBe(200);
    expect(await statusOf(ask('GET', '/api/v1/auth/whoami', cookie))).toBe(401);
    const token = cookie.slice(cookie.indexOf('=') + 1);
    for (const bearer of [token, platform.sharedToken])
      expect(await statusOf(platform.call('GET', '/console/api/v1/auth/whoami', { token: bearer }))).toBe(401);
  });

  it('opens no API route with the token in the cookie, because the console sign-in needs no gate key', async () => {
    const cookie = await takeCookie();
    const token = cookie.slice(cookie.indexOf('=') + 1);
    // This call caches the session. A cached console session must not be accepted as a bearer token.
    expect(await statusOf(ask('GET', '/console/api/v1/auth/whoami', cookie))).toBe(200);
    const opened: string[] = [];
    for (const { method, path, auth } of routes) {
      if (auth === 'none' || auth === 'login-gate') continue;
      const { status } = await platform.call(method, path.replaceAll(/\{[a-z_]+\}/g, '1'), {
        token,
        ...(method === 'GET' ? {} : { json: {} }),
      });
      if (status !== 401) opened.push(`${method} ${path}: ${status}`);
    }
    expect(opened).toEqual([]);
    expect(
      await statusOf(platform.call('POST', '/mcp', { token, json: { jsonrpc: '2.0', id: 1, method: 'tools/list' } })),
    ).toBe(401);
  });

  it('accepts only tokens of console sessions in the cookie, regardless of the account', async () => {
    const { json } = await platform.call('POST', '/api/v1/auth/login', {
      token: null,
      headers: { 'x-svc-api-key': platform.loginSecret },
      json: root,
    });
    const { token: login } = json as { token: string };
    const made = await platform.call('POST', '/api/v1/keys', {
      token: login,
      json: { name: 'all', account_id: 1, scopes: ['*'] },
    });
    const { token: key } = made.json as { token: string };
    expect(key).toMatch(/^svc_key_/);
    for (const token of [login, key, platform.sharedToken]) {
      expect(await statusOf(ask('GET', '/console/api/v1/auth/whoami', `coherence_console=${token}`))).toBe(401);
      expect(await statusOf(ask('GET', '/console/api/ops/audit', `coherence_console=${token}`))).toBe(401);
    }
  });

  it('lists a console session among the sessions of the account, which can revoke it', async () => {
    const cookie = await takeCookie();
    const { json } = await platform.call('POST', '/api/v1/auth/login', {
      token: null,
      headers: { 'x-svc-api-key': platform.loginSecret },
      json: root,
    });
    const { token } = json as { token: string };
    const id = /svc_agentic_([a-z0-9]{32})/.exec(cookie)?.[1] ?? '';
    const listed = await platform.call('GET', '/api/v1/auth/sessions?limit=200', { token });
    expect((listed.json as { items: { id: string }[] }).items.map((item) => item.id)).toContain(id);
    expect(await statusOf(ask('GET', '/console/api/v1/auth/whoami', cookie))).toBe(200);
    expect(await statusOf(platform.call('POST', `/api/v1/auth/sessions/${id}/revoke`, { token, json: {} }))).toBe(200);
    expect(await statusOf(ask('GET', '/console/api/v1/auth/whoami', cookie))).toBe(401);
  });

  it('rejects a cookie that is sent twice, altered, empty, or has another name', async () => {
    const cookie = await takeCookie();
    const refused = [
      `${cookie}; coherence_console=another`,
      `coherence_console=another; ${cookie}`,
      cookie.replace('coherence_console', '__Secure-coherence_console'),
      cookie.replace('coherence_console', 'Coherence_Console'),
      `${cookie}x`,
      'coherence_console=',
    ];
    for (const given of refused)
      expect([given, await statusOf(ask('GET', '/console/api/v1/auth/whoami', given))]).toEqual([given, 401]);
    expect(await statusOf(ask('GET', '/console/api/v1/auth/whoami', `a=b; ${cookie}; c="d"`))).toBe(200);
  });

  it('revokes the session on all gateways and deletes the cookie at the logout', async () => {
    const cookie = await takeCookie();
    const left = await ask('POST', '/console/api/v1/auth/logout', cookie, {
      origin: own,
      'content-type': 'application/json',
    });
    expect([left.status, left.headers.get('set-cookie')]).toEqual([
      200,
      'coherence_console=; Path=/console; HttpOnly; SameSite=Strict; Max-Age=0',
    ]);
    expect(await statusOf(ask('GET', '/console/api/v1/auth/whoami', cookie))).toBe(401);
  });
});

describe('cross-site requests to the console (rules/console#session)', () => {
  it('rejects changes and sign-ins from pages of other servers', async () => {
    const cookie = await takeCookie();
    const secure = { host: 'console.example.org' };
    const foreign: Record<string, string>[] = [
      {},
      { origin: 'null' },
      { origin: 'https://evil.example.org' },
      { origin: `${own}.evil.example.org` },
      { origin: own.replace('127.0.0.1', 'localhost') },
      { origin: own.replace(/:\d+$/, ':1') },
      { origin: own, 'sec-fetch-site': 'cross-site' },
      { origin: own, 'sec-fetch-site': 'same-site' },
      { ...secure, origin: 'http://console.example.org' },
      { ...secure, origin: 'https://console.example.org:444' },
      { ...secure, origin: 'https://example.org' },
      { host: 'console.example.org/x', origin: 'https://console.example.org' },
    ];
    for (const headers of foreign) {
      expect([headers, await statusOf(signInAt(headers))]).toEqual([headers, 403]);
      expect([
        headers,
        await statusOf(sendRaw('POST', '/console/api/v1/auth/logout', { cookie, ...headers }, {})),
      ]).toEqual([headers, 403]);
    }
    expect(await statusOf(signInAt({ host: 'console.example.org:443', origin: 'https://console.example.org' }))).toBe(
      200,
    );
    expect(await statusOf(ask('GET', '/console/api/v1/auth/whoami', cookie))).toBe(200);
  });

  it('rejects reads from pages of other sites, and sends no CORS headers', async () => {
    const cookie = await takeCookie();
    const path = '/console/api/v1/auth/whoami';
    for (const headers of [{ 'sec-fetch-site': 'cross-site' }, { origin: 'https://app.example.org' }])
      expect([headers, await statusOf(ask('GET', path, cookie, headers as Record<string, string>))]).toEqual([
        headers,
        403,
      ]);
    const { headers } = await ask('GET', path, cookie, { origin: own });
    expect([...headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([]);
    expect([
      headers.get('content-security-policy'),
      headers.get('cross-origin-resource-policy'),
      headers.get('cache-control'),
    ]).toEqual(["default-src 'none'; frame-ancestors 'none'; sandbox", 'same-origin', 'no-store']);
    expect(
      await statusOf(
        ask('OPTIONS', path, cookie, { origin: 'https://app.example.org', 'access-control-request-method': 'GET' }),
      ),
    ).toBe(403);
  });

  it('forbids framing of console pages, and allows only modules of the console to run', async () => {
    const { headers, text } = await platform.call('GET', '/console/keys/x', { token: null });
    expect(headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; script-src 'self' 'sha256-[A-Za-z0-9+/=]{44}'; style-src 'self'; img-src 'self'; media-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
    );
    expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
    expect(text).not.toMatch(/<[^>]+ (?:on\w+|style)=|https?:/);
  });
});

describe('operations of the console session (rules/console#reach)', () => {
  it('returns 404 for every operation that the console pages do not use', async () => {
    const cookie = await takeCookie();
    const wrong: string[] = [];
    const look = async (route: (typeof routes)[number]): Promise<void> => {
      const path = `/console${route.path.replaceAll(/\{[a-z_]+\}/g, '1')}`;
      const headers = { origin: own, 'content-type': 'application/json' };
      const { status } = await platform.call(route.method, path, {
        token: null,
        headers: { cookie, ...headers },
        ...(route.method === 'GET' ? {} : { json: {} }),
      });
      // A missing service returns 503. A path with an id may return 404 from the operation itself.
      const isReached = status !== 404 || route.path.includes('{');
      const expected = reachable.includes(route.operationId);
      if (expected ? !isReached : status !== 404) wrong.push(`${route.method} ${path}: ${status}`);
    };
    // Without a service, each request fails after half a second, so the requests are sent in parallel.
    await Promise.all(
      routes.filter(({ path, operationId }) => path.startsWith('/api/') && operationId !== 'logout').map(look),
    );
    expect(wrong).toEqual([]);
  });

  it('returns 404 for a disallowed operation in any notation of the path', async () => {
    const cookie = await takeCookie();
    const paths = [
      '/console/api/v1/classes',
      '/console/api/v1/keys/../classes',
      '/console/api/v1/keys/%2e%2e/classes',
      '/console/api//v1/people',
      '/console/api/v1/keys/..%2f..%2fv1%2fclasses',
      '/console/api/openapi.json',
      '/console/api/v1/docs',
      '/console/api/v1/auth/whoami/../../classes',
    ];
    for (const path of paths) {
      expect([path, await statusOf(sendRaw('GET', path, { cookie }))]).toEqual([path, 404]);
    }
  });
});

describe('console sign-in without the gate key (D76)', () => {
  const guess = (email: string, from: string): Promise<Answer> =>
    signIn({ origin: own, 'x-forwarded-for': from }, { email, password: 'wrong' });
  const login = (email: string, from: string): Promise<Answer> =>
    platform.call('POST', '/api/v1/auth/login', {
      token: null,
      headers: { 'x-svc-api-key': platform.loginSecret, 'x-forwarded-for': from },
      json: { email, password: 'secret-of-ada-door' },
    });

  it('throttles console sign-ins like logins, returns one error for all causes, and does not delay logins with the gate key', async () => {
    const from = '198.51.100.9';
    const email = 'ada-door@example.org';
    const answers = [];
    for (let count = 0; count < 6; count++) answers.push(await guess(email, from));
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401, 429]);
    expect(Number(answers[5]?.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await guess('nobody@example.org', from)).text).toBe(answers[0]?.text);
    expect(await statusOf(login(email, from))).toBe(200);
    expect(
      await statusOf(
        signIn({ origin: own, 'x-forwarded-for': '198.51.100.10' }, { email, password: 'secret-of-ada-door' }),
      ),
    ).toBe(200);
    await Promise.all(Array.from({ length: 70 }, (_guess, count) => guess(`guess-${count}@example.org`, from)));
    expect(await statusOf(guess('one-more@example.org', from))).toBe(429);
    expect(await statusOf(login(email, from))).toBe(200);
  });

  it('rejects sign-in bodies with fields other than email and password', async () => {
    for (const json of [
      {},
      { email: 1, password: 'x' },
      { email: 'a@b.c' },
      { email: 'x'.repeat(1001), password: 'x' },
      [],
    ])
      expect(await statusOf(signIn({ origin: own }, json))).toBe(422);
    expect(await statusOf(signIn({ origin: own }, { ...root, password: { $ne: '' } }))).toBe(422);
  });
});
