/** The gateway as a service, with a directory stand-in: credentials, documents, load, streams and shutdown. */
import { Agent, get } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { compileSchema } from '#libs/infrastructure/schema';
import { type Bus, connectBus } from '#libs/infrastructure/nats';
import { createTestEnvironment, startService, type TestEnvironment, waitFor } from '#libs/product/testing';
import { directory } from '#services/directory';
import { routes } from '../../../services/api-gateway/routes/index.ts';
import { type Call, createCall, type Reply, startGatewayFixture, type Probe } from './fixture.ts';
import { type DirectoryStandIn, person, serveDirectory } from './stand-ins.ts';

let env: TestEnvironment;
let bus: Bus;
let people: DirectoryStandIn;
/** The time of the gateway's clock, which only tests advance. */
let nowMs = 0;
let call: (method: string, path: string, call?: Call) => Promise<Reply>;

beforeAll(async () => {
  env = await createTestEnvironment(import.meta.url);
  bus = await connectBus({
    url: env.settings['NATS_URL'] ?? '',
    name: 'stand-ins',
    checkReplies: true,
    prefix: env.settings['NATS_SUBJECT_PREFIX'],
    logger: env.logger,
    actors: env.actors,
  });
  people = await serveDirectory(bus);
  const service = (await startService(
    'api-gateway',
    env,
    { TRUSTED_PROXY_HOPS: '1' },
    { monotonicMs: () => nowMs },
  )) as unknown as {
    port: number;
  };
  call = createCall(service.port);
});
afterAll(async () => {
  await people.stop();
  await bus.deleteStreams();
  await bus.close();
  await env.stop();
});

interface Document {
  openapi: string;
  paths: Record<
    string,
    Record<string, { operationId: string; parameters?: { in: string; name: string }[]; responses: object }>
  >;
  components: { schemas: Record<string, object> };
}

const shared = 'Bearer test-api-token';
const bearer = (token: string): Call => ({ auth: `Bearer ${token}` });
const whoami = (auth: string | null) => call('GET', '/api/v1/auth/whoami', { auth });
const audio = '/api/coherence/conversations/1/audio';

describe('credentials by route class (architecture#contracts; rules/access#classes-of-routes; D12, D30)', () => {
  it('defines an access class for every route', () => {
    const classes = new Map(routes.map((route) => [`${route.method} ${route.path}`, route.auth]));
    expect(
      [...classes.values()].every((auth) =>
        ['none', 'shared-or-user', 'user', 'coherence', 'shared', 'v1', 'login-gate', 'ops', 'ops-act'].includes(auth),
      ),
    ).toBe(true);
    expect(classes.get('POST /api/coherence/conversations/{conversation_id}/audio')).toBe('user');
    expect(classes.get('GET /api/coherence/conversations/{conversation_id}/audio')).toBe('shared-or-user');
    expect(classes.get('POST /api/coherence/hook/booking/{person_id}')).toBe('none');
    for (const [place, auth] of classes)
      if (place.includes('/api/v1/auth/') && !place.endsWith('login')) expect([place, auth]).toEqual([place, 'v1']);
  });

  it('rejects the shared token with 401 on v1 routes and with 403 on per-user routes', async () => {
    expect((await whoami(shared)).status).toBe(401);
    const reply = await call('POST', audio, { auth: shared });
    expect([reply.status, reply.json]).toEqual([
      403,
      { detail: expect.any(String), error: 'per_user_token_required', message: expect.any(String) },
    ]);
  });

  it('accepts a per-user token, and does not verify text that does not have the format of a token', async () => {
    expect((await whoami(`Bearer ${people.issue()}`)).json).toEqual({ authenticated: true, person, key: null });
    const asked = people.calls.verify;
    for (const token of [
      'x',
      `svc_agentic_${'A'.repeat(32)}_${'x'.repeat(43)}`,
      `svc_agentic_${'a'.repeat(32)}_${'x'.repeat(42)}`,
    ]) {
      expect((await whoami(`Bearer ${token}`)).status).toBe(401);
    }
    expect(people.calls.verify).toBe(asked);
  });

  it('returns 401 for an unknown token and for cookies', async () => {
    const reply = await whoami(`Bearer svc_agentic_${'a'.repeat(32)}_${'x'.repeat(43)}`);
    expect([reply.status, reply.json.code, reply.headers['www-authenticate']]).toEqual([
      401,
      'unauthenticated',
      'Bearer',
    ]);
    const cookie = await call('GET', '/api/v1/auth/whoami', {
      auth: null,
      headers: { cookie: `token=${people.issue()}; sessionid=test-api-token` },
    });
    expect(cookie.status).toBe(401);
  });
});

describe('POST /api/v1/auth/login (rules/access#login; D40)', () => {
  const login = (body: string, gate?: string) =>
    call('POST', '/api/v1/auth/login', {
      auth: null,
      body,
      ...(gate === undefined ? {} : { headers: { 'x-svc-api-key': gate } }),
    });
  const invalid = { code: 'unauthenticated', message: 'Invalid credentials.', retryable: false };

  it.each([undefined, '', 'wrong', 'test-login-secret '.repeat(2)])(
    'rejects the gate key %j before it checks the body',
    async (gate) => {
      const refused = people.calls.refused.length;
      const reply = await login('{', gate);
      expect([reply.status, reply.json]).toEqual([401, invalid]);
      expect(people.calls.refused).toHaveLength(refused + 1);
    },
  );

  it('forwards email, password and client address', async () => {
    const reply = await call('POST', '/api/v1/auth/login', {
      auth: null,
      json: { email: 'ada@example.org', password: 'right' },
      headers: { 'x-svc-api-key': 'test-login-secret', 'x-forwarded-for': '198.51.100.9, 203.0.113.7' },
    });
    expect([reply.status, reply.json.token_type]).toEqual([200, 'Bearer']);
    expect(people.calls.logins.at(-1)).toEqual({ email: 'ada@example.org', ip: '203.0.113.7' });
    expect((await login('{"email":"ada@example.org","password":"wrong"}', 'test-login-secret')).json).toEqual(invalid);
  });

  it('returns 429 with the Retry-After of the login throttle', async () => {
    const reply = await login('{"email":"busy@example.org","password":"right"}', 'test-login-secret');
    expect([reply.status, reply.headers['retry-after'], reply.json]).toEqual([
      429,
      '17',
      { code: 'rate_limited', message: expect.any(String), retryable: true },
    ]);
  });
});

describe('revocation (rules/access#login: effective within a second)', () => {
  it('rejects a token immediately after logout', async () => {
    const token = people.issue();
    expect((await whoami(`Bearer ${token}`)).status).toBe(200);
    const reply = await call('POST', '/api/v1/auth/logout', bearer(token));
    expect([reply.status, reply.json]).toEqual([200, { revoked: true }]);
    expect((await whoami(`Bearer ${token}`)).status).toBe(401);
  });

  /** Issues and uses a token, then revokes it. */
  const revokeUsed = async (): Promise<{ token: string; key: string }> => {
    const token = people.issue();
    expect((await whoami(`Bearer ${token}`)).status).toBe(200);
    const key = people.tokens.get(token)?.sessionKey ?? '';
    people.tokens.delete(token);
    return { token, key };
  };
  const statusOf = async (token: string): Promise<number> => (await whoami(`Bearer ${token}`)).status;

  it('rejects a revoked token when the revocation event arrives, before its 800 ms cache period ends', async () => {
    const { token, key } = await revokeUsed();
    expect(await statusOf(token)).toBe(200);
    bus.publish(directory.events.sessionsRevoked, { session_keys: [key] });
    await expect(waitFor(async () => (await statusOf(token)) === 401)).resolves.toBe(true);
  });

  it('rejects a revoked token 800 ms after its first use, even without the event', async () => {
    const { token } = await revokeUsed();
    nowMs += 799;
    expect(await statusOf(token)).toBe(200);
    nowMs += 1;
    expect(await statusOf(token)).toBe(401);
  });

  it('verifies a token once for many requests within 800 ms', async () => {
    const token = people.issue();
    const asked = people.calls.verify;
    const replies = await Promise.all(Array.from({ length: 20 }, () => whoami(`Bearer ${token}`)));
    expect(new Set(replies.map((reply) => reply.status))).toEqual(new Set([200]));
    expect(people.calls.verify).toBe(asked + 1);
  });
});

const follow = (root: unknown, keys: readonly string[]): unknown =>
  keys.reduce((value, key) => (value as Record<string, unknown> | undefined)?.[key], root);

const documents = ['/api/openapi.json', '/api/v1/openapi.json', '/api/ops/openapi.json'];

describe('OpenAPI documents of the gateway (rules/http#live-schema)', () => {
  it.each(documents)('documents every public route in %s', async (path) => {
    const document = JSON.parse((await call('GET', path, { auth: null })).text) as Document;
    expect(document.openapi).toMatch(/^3\.1\./);
    const folder = path.replace('openapi.json', '');
    const documentOf = (route: (typeof routes)[number]): string =>
      /^\/api\/(v1|ops)\//.exec(route.path)?.[0] ?? '/api/';
    const expected = routes.filter((route) => route.documented !== false && documentOf(route) === folder);
    expect(Object.values(document.paths).flatMap((item) => Object.keys(item))).toHaveLength(expected.length);
    const ids = new Set<string>();
    for (const route of expected) {
      const operation = document.paths[route.path]?.[route.method.toLowerCase()];
      if (operation === undefined) throw new Error(`${route.method} ${route.path} is missing`);
      expect(ids.has(operation.operationId)).toBe(false);
      ids.add(operation.operationId);
      const named = [...route.path.matchAll(/\{([a-z_]+)\}/g)].map((match) => match[1] ?? '');
      const described = (operation.parameters ?? [])
        .filter((parameter) => parameter.in === 'path')
        .map((parameter) => parameter.name);
      expect([route.path, new Set(described)]).toEqual([route.path, new Set(named)]);
      for (const status of [
        '431',
        '503',
        ...(route.auth === 'none' ? [] : ['401']),
        ...(route.body === undefined ? [] : ['400', '413', '422']),
      ]) {
        expect([route.path, Object.keys(operation.responses)]).toEqual([route.path, expect.arrayContaining([status])]);
      }
    }
  });

  it.each(documents)('contains no dangling references and only compilable schemas in %s', async (path) => {
    const document = JSON.parse((await call('GET', path, { auth: null })).text) as Document;
    const text = JSON.stringify(document);
    for (const [, reference = ''] of text.matchAll(/"\$ref":"#\/([^"]+)"/g)) {
      expect([reference, follow(document, reference.split('/'))]).toEqual([reference, expect.anything()]);
    }
    for (const schema of Object.values(document.components.schemas)) {
      expect(() => compileSchema({ ...schema, components: document.components })).not.toThrow();
    }
  });
});

describe('pages of the API documents (rules/http#live-schema)', () => {
  it.each(['/api/docs', '/api/docs/', '/api/v1/docs', '/api/ops/docs'])(
    'loads no resources from other hosts at %s',
    async (path) => {
      const page = await call('GET', path, { auth: null });
      expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
      expect(page.headers['content-security-policy']).toMatch(/default-src 'none'.*connect-src 'self'/);
      const links = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)]
        .map((match) => match[1] ?? '')
        .filter((link) => !link.startsWith('data:'));
      expect(links.length).toBeGreaterThanOrEqual(3);
      for (const link of links) {
        expect(link).toMatch(/^\/api\//);
        expect([link, (await call('GET', link)).status]).toEqual([link, 200]);
      }
      const start = (await call('GET', '/api/docs/assets/start.js')).text;
      expect(start).toMatch(/withDefaultFonts: false[\s\S]*telemetry: false/);
    },
  );

  it('returns 404 for unknown page assets and 304 for cached ones', async () => {
    for (const file of ['x.js', '..%2f..%2fpackage.json', 'constructor'])
      expect((await call('GET', `/api/docs/assets/${file}`)).status).toBe(404);
    const { etag } = (await call('GET', '/api/docs/assets/reference.js')).headers;
    expect(
      (await call('GET', '/api/docs/assets/reference.js', { headers: { 'if-none-match': String(etag) } })).status,
    ).toBe(304);
  });
});

describe('unavailable dependency (rules/http#overload: 503, never 401)', () => {
  it('returns 503 when the service of an operation is unavailable', async () => {
    const reply = await call('GET', '/api/agents/none/', { auth: shared });
    expect([reply.status, reply.headers['retry-after'], reply.json]).toEqual([
      503,
      '1',
      { detail: expect.any(String) },
    ]);
  });

  it('returns 503 when the media service is unavailable', async () => {
    const reply = await call('GET', audio, { auth: shared });
    expect([reply.status, reply.headers['retry-after'], reply.json]).toEqual([
      503,
      '1',
      { detail: expect.any(String) },
    ]);
  });

  it('returns 503 when credentials cannot be verified', async () => {
    const token = people.issue();
    await people.stop();
    const reply = await whoami(`Bearer ${token}`);
    expect([reply.status, reply.headers['retry-after'], reply.json.retryable]).toEqual([503, '1', true]);
    const login = await call('POST', '/api/v1/auth/login', { auth: null, body: '{' });
    expect(login.status).toBe(503);
    people = await serveDirectory(bus);
  });
});

describe('load and streams (architecture#large-messages; rules/http#overload)', () => {
  let fixture: Probe;
  beforeAll(async () => {
    fixture = await startGatewayFixture(import.meta.url, { maxInFlight: 3 });
  });
  afterAll(() => fixture.stop());

  it('rejects requests beyond the limit of concurrent requests', async () => {
    let answered = 0;
    const calls = Array.from({ length: 6 }, () =>
      fixture.call('GET', '/api/probe/wait/60000').finally(() => answered++),
    );
    await waitFor(() => answered === 3 && fixture.state.waiting === 3);
    fixture.release();
    const replies = await Promise.all(calls);
    const count = (status: number): number => replies.filter((reply) => reply.status === status).length;
    expect([count(200), count(503)]).toEqual([3, 3]);
    expect(replies.find((reply) => reply.status === 503)?.headers['retry-after']).toBe('1');
    expect((await fixture.call('GET', '/api/probe/wait/1')).status).toBe(200);
  });

  it('streams a response of any size', async () => {
    const reply = await fixture.call('GET', '/api/probe/stream/20000');
    expect([reply.status, reply.complete, reply.text.length]).toEqual([200, true, 20_000 * 1024]);
  });

  it('closes the client connection when a streamed response fails', async () => {
    const reply = await fixture.call('GET', '/api/probe/stream/5000?broken=true');
    expect([reply.status, reply.complete]).toEqual([200, false]);
    expect(reply.text.length).toBeLessThan(5_000 * 1024);
  });

  it('stops reading the stream when the client disconnects or does not read', async () => {
    const cancelled = fixture.state.cancelled;
    const socket = connect(fixture.port, '127.0.0.1');
    socket.write('GET /api/probe/stream/2000000 HTTP/1.1\r\nHost: x\r\n\r\n');
    await new Promise((resolve) => socket.once('data', resolve));
    socket.pause();
    socket.destroy();
    await expect(waitFor(() => fixture.state.cancelled > cancelled)).resolves.toBe(true);
  });
});

describe('gateway shutdown (architecture#services)', () => {
  it('completes the running request, closes idle connections and accepts no new connections', async () => {
    const fixture = await startGatewayFixture(import.meta.url);
    const kept = new Agent({ keepAlive: true });
    const running = new Promise<string>((resolve, reject) => {
      get(
        { port: fixture.port, path: '/api/probe/wait/60000', agent: kept },
        (response) => void response.toArray().then((parts) => resolve(String(parts[0]))),
      ).once('error', reject);
    });
    await waitFor(() => fixture.state.waiting === 1);
    // Neither this deadline nor the timeout of the kept-alive connection expires within the test.
    const stopped = fixture.stop(600_000);
    fixture.release();
    await expect(running).resolves.toBe('{"done":true}');
    await stopped;
    kept.destroy();
    await expect(fixture.call('GET', '/api/probe/wait/1')).rejects.toThrow(/ECONNREFUSED/);
  });
});
