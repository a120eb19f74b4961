/** HTTP response rules (docs/rules/http.md): headers, operation errors, overload, CORS, ETag. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Probe, startGatewayFixture } from './fixture.ts';

let fixture: Probe;
beforeAll(async () => {
  fixture = await startGatewayFixture(import.meta.url);
});
afterAll(() => fixture.stop());

const thing = '/api/probe/things/7';
const patch = (json: unknown) => fixture.call('PATCH', thing, { json });

describe('Datetimes in responses (rules/http#datetimes-out)', () => {
  it('does not modify datetimes: the response contains the exact bytes of the service', async () => {
    const text =
      '{"name":"\\u00e9","infos":{"at":"0001-01-01T00:00:00.000001Z","n":1.10,"big":123456789012345678901234567890}}';
    expect((await fixture.call('POST', '/api/probe/optional', { body: text })).text).toBe(
      '{"name":"é","infos":{"at":"0001-01-01T00:00:00.000001Z","n":1.10,"big":123456789012345678901234567890}}',
    );
  });
});

describe('X-Request-Id (rules/http#request-id)', () => {
  it.each(['abc-123', '~!@#$', 'x'.repeat(128)])('returns the request id %s', async (id) => {
    expect(
      (await fixture.call('GET', '/api/nothing', { headers: { 'x-request-id': id } })).headers['x-request-id'],
    ).toBe(id);
  });

  it.each(['', 'a b', 'x'.repeat(129), 'é'])('generates a request id to replace %j', async (id) => {
    const made = String(
      (await fixture.call('GET', thing, { headers: { 'x-request-id': id } })).headers['x-request-id'],
    );
    expect(made).toMatch(/^[\x21-\x7e]{16,128}$/);
    expect(made).not.toBe(id);
  });

  it('sends a request id with every response', async () => {
    const replies = [
      await fixture.call('OPTIONS', thing, {
        headers: { origin: 'https://app.example.org', 'access-control-request-method': 'GET' },
      }),
      await fixture.call('PUT', thing),
      await fixture.call('GET', thing, { auth: null }),
      await fixture.call('GET', '/nowhere'),
      await fixture.call('GET', '/api/probe/stream/2000'),
    ];
    for (const reply of replies) expect(reply.headers['x-request-id']).toMatch(/./);
  });
});

describe('Rate limits (rules/http#rate-limits)', () => {
  it('returns 429 with Retry-After in the error format of each API surface', async () => {
    const json = { code: 'rate_limited', details: { retry_after: 17 } };
    const api = await fixture.call('POST', '/api/probe/fail', { json });
    expect([api.status, api.headers['retry-after'], api.json]).toEqual([429, '17', { detail: 'as asked' }]);
    const v1 = await fixture.call('POST', '/api/v1/probe/fail', { json: { code: 'rate_limited' } });
    expect([v1.status, v1.headers['retry-after'], v1.json]).toEqual([
      429,
      '60',
      { code: 'rate_limited', message: 'as asked', retryable: true },
    ]);
  });
});

describe('Overload or unavailable dependency (rules/http#overload)', () => {
  it('returns 503 with Retry-After at the deadline of the request, and not later', async () => {
    const reply = await fixture.call('GET', '/api/probe/wait/600000');
    expect([reply.status, reply.headers['retry-after'], reply.json]).toEqual([
      503,
      '1',
      { detail: expect.any(String) },
    ]);
  });

  it.each(['unavailable', 'deadline_exceeded'])('maps %s to 503 on both API surfaces', async (code) => {
    const api = await fixture.call('POST', '/api/probe/fail', { json: { code } });
    const v1 = await fixture.call('POST', '/api/v1/probe/fail', { json: { code } });
    expect([api.status, v1.status, v1.json]).toEqual([
      503,
      503,
      { code: 'server_error', message: 'as asked', retryable: true },
    ]);
    expect(v1.headers['retry-after']).toBe('1');
  });

  it('omits the message of an internal error', async () => {
    const api = await fixture.call('POST', '/api/probe/fail', { json: { code: 'fault' } });
    expect([api.status, api.json]).toEqual([500, { detail: 'Internal Server Error' }]);
    const v1 = await fixture.call('POST', '/api/v1/probe/fail', { json: { code: 'fault' } });
    expect([v1.status, v1.json]).toEqual([500, { code: 'server_error', message: 'Internal error', retryable: true }]);
  });
});

describe('Versioning (rules/http#headers-of-every-answer)', () => {
  it('sends X-Api-Version with every response of /api/', async () => {
    for (const path of ['/api/nothing', '/api/v1/nothing', thing, '/api/probe/wait/abc']) {
      expect([path, (await fixture.call('GET', path)).headers['x-api-version']]).toEqual([path, '9.9']);
    }
  });

  it('sends Deprecation for fields of old clients, also with rejected requests', async () => {
    expect((await patch({ sessionId: 'x' })).headers['deprecation']).toBe('true');
    expect((await patch({ sessionId: null, count: 'a' })).headers['deprecation']).toBe('true');
    expect((await patch({ count: 1 })).headers['deprecation']).toBeUndefined();
  });
});

describe('CORS (rules/http#cross-origin-access)', () => {
  const origin = 'https://app.example.org';

  it('answers a CORS preflight before any other check (D93)', async () => {
    const reply = await fixture.call('OPTIONS', '/api/nothing', {
      auth: null,
      headers: { origin, 'access-control-request-method': 'PATCH' },
    });
    expect([reply.status, reply.text]).toEqual([204, '']);
    expect(reply.headers).toMatchObject({
      'access-control-allow-origin': origin,
      'access-control-allow-methods': 'GET, POST, PUT, PATCH, OPTIONS',
      'access-control-allow-headers': 'Authorization, Content-Type, X-Probe',
      'access-control-expose-headers':
        'ETag, X-Request-Id, Retry-After, X-Api-Version, Deprecation, Idempotent-Replayed, Link, X-Total-Count',
      'access-control-max-age': '600',
      vary: 'Origin',
    });
    expect(reply.headers['access-control-allow-credentials']).toBeUndefined();
  });

  it('sends CORS headers with every response, errors included, for allowed origins only', async () => {
    for (const [method, path, body] of [
      ['GET', thing],
      ['GET', '/api/nothing'],
      ['PUT', thing],
      ['PATCH', thing, '{'],
      ['GET', '/api/probe/wait/2000'],
      ['GET', '/api/probe/stream/2000'],
    ] as const) {
      const call = body === undefined ? {} : { body };
      const allowed = await fixture.call(method, path, { ...call, headers: { origin } });
      expect([path, allowed.headers['access-control-allow-origin'], allowed.headers['vary']]).toEqual([
        path,
        origin,
        'Origin',
      ]);
      expect(allowed.headers['access-control-expose-headers']).toContain('X-Request-Id');
      const other = await fixture.call(method, path, { ...call, headers: { origin: 'https://evil.example.org' } });
      expect(Object.keys(other.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    }
  });

  it('sends no CORS headers on /api/v1/', async () => {
    const reply = await fixture.call('GET', '/api/v1/probe/list', { headers: { origin } });
    expect(Object.keys(reply.headers).filter((name) => name.startsWith('access-control') || name === 'vary')).toEqual(
      [],
    );
    expect(
      (
        await fixture.call('OPTIONS', '/api/v1/probe/list', {
          headers: { origin, 'access-control-request-method': 'GET' },
        })
      ).status,
    ).toBe(405);
  });
});

describe('ETag of responses (rules/http#etag)', () => {
  it('sends a strong ETag that depends only on the bytes, and returns 304 for a matching If-None-Match', async () => {
    const etag = String((await fixture.call('GET', thing)).headers['etag']);
    expect(etag).toMatch(/^"[^"]+"$/);
    expect((await fixture.call('GET', '/api/probe/things/8')).headers['etag']).not.toBe(etag);
    for (const condition of [etag, `W/${etag}`, `"x", ${etag}`, '*', `"a,b",W/${etag}`]) {
      const reply = await fixture.call('GET', thing, { headers: { 'if-none-match': condition } });
      expect([condition, reply.status, reply.text, reply.headers['etag']]).toEqual([condition, 304, '', etag]);
    }
    for (const condition of ['"x"', '', 'x', `"${etag}"x`]) {
      expect([
        condition,
        (await fixture.call('GET', thing, { headers: { 'if-none-match': condition } })).status,
      ]).toEqual([condition, 200]);
    }
  });

  it('sends no ETag with lists and errors', async () => {
    expect((await fixture.call('GET', '/api/probe/list')).headers['etag']).toBeUndefined();
    expect((await fixture.call('GET', '/api/probe/things/0')).headers['etag']).toBeUndefined();
  });

  it('computes the ETag of a response that the gateway receives in parts', async () => {
    const first = await fixture.call('GET', '/api/probe/large/900');
    expect([first.status, first.text.length]).toEqual([200, 900 * 1024]);
    const again = await fixture.call('GET', '/api/probe/large/900', {
      headers: { 'if-none-match': String(first.headers['etag']) },
    });
    expect([again.status, again.text]).toEqual([304, '']);
  });
});

describe('errors on /api/v1/ in another envelope (rules/http#error-envelopes)', () => {
  const path = '/api/v1/probe/things/7';

  it('uses {detail} on /api/v1/ for unparsable JSON, 413 and 422', async () => {
    expect((await fixture.call('PATCH', path, { body: '{' })).json).toEqual({ detail: 'Cannot parse request body' });
    expect((await fixture.call('PATCH', path, { body: Buffer.alloc(4_194_305, 0x20) })).json).toEqual({
      detail: expect.any(String),
    });
    expect((await fixture.call('PATCH', path, { json: { count: 'a' } })).json).toEqual({
      detail: [expect.objectContaining({ type: 'int_parsing' })],
    });
  });

  it('uses the v1 envelope for 405 and for errors of operations', async () => {
    const reply = await fixture.call('DELETE', path);
    expect([reply.status, reply.json]).toEqual([
      405,
      { code: 'method_not_allowed', message: 'Method not allowed', retryable: false },
    ]);
    const fail = async (json: unknown) => (await fixture.call('POST', '/api/v1/probe/fail', { json })).json;
    expect(await fail({ code: 'bad_request' })).toEqual({
      code: 'validation_error',
      message: 'as asked',
      retryable: false,
    });
    expect(
      await fail({ code: 'conflict', reason: 'duplicate_person', details: { match_field: 'contact.email' } }),
    ).toEqual({
      code: 'duplicate_person',
      message: 'as asked',
      retryable: false,
      match_field: 'contact.email',
    });
  });
});

describe('application errors on /api/ (rules/http#error-envelopes)', () => {
  it('returns reason, message and details of an error, or {detail} for an error without a reason', async () => {
    const fail = async (json: unknown) => (await fixture.call('POST', '/api/probe/fail', { json })).json;
    expect(await fail({ code: 'conflict', reason: 'version_conflict', details: { currentVersion: null } })).toEqual({
      error: 'version_conflict',
      message: 'as asked',
      currentVersion: null,
    });
    expect(await fail({ code: 'not_found' })).toEqual({ detail: 'as asked' });
    expect(
      await fail({
        code: 'unprocessable',
        details: { items: [{ type: 'missing', loc: ['file', 'audio'], msg: 'Field required' }] },
      }),
    ).toEqual({
      detail: [{ type: 'missing', loc: ['file', 'audio'], msg: 'Field required' }],
    });
  });
});

describe('Enumerations (rules/http#validation-items)', () => {
  it('lists the allowed values in a validation error', async () => {
    const body = (await patch({ kind: 'green' })).json.detail;
    expect(body).toEqual([
      {
        type: 'enum',
        loc: ['body', 'payload', 'kind'],
        msg: "Input should be 'red' or 'blue'",
        ctx: { expected: "'red' or 'blue'" },
      },
    ]);
    const query = (await fixture.call('GET', '/api/probe/list?sort=up')).json.detail;
    expect(query).toEqual([
      {
        type: 'enum',
        loc: ['query', 'sort'],
        msg: "Input should be 'date_desc' or 'date_asc'",
        ctx: { expected: "'date_desc' or 'date_asc'" },
      },
    ]);
  });
});
