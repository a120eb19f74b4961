/** HTTP rules (docs/rules/http.md) on routing, credentials, parsing and validation. */
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Probe, startGatewayFixture } from './fixture.ts';

let fixture: Probe;
beforeAll(async () => {
  fixture = await startGatewayFixture(import.meta.url);
});
afterAll(() => fixture.stop());

const thing = '/api/probe/things/7';
const patch = (json: unknown) => fixture.call('PATCH', thing, { json });
const items = async (json: unknown) => (await patch(json)).json.detail.map(({ type, loc }) => [type, loc.slice(2)]);

describe('Order of checks (rules/http#order-of-checks)', () => {
  it('checks route, method, credential, body and validation in this order', async () => {
    const broken = { body: '{', auth: null };
    expect((await fixture.call('PATCH', '/api/probe/nothing', broken)).status).toBe(404);
    expect((await fixture.call('PUT', '/api/probe/things/x', broken)).status).toBe(405);
    expect((await fixture.call('PATCH', '/api/probe/things/x', broken)).status).toBe(401);
    expect((await fixture.call('PATCH', '/api/probe/things/x', { body: '{' })).status).toBe(400);
    expect((await fixture.call('PATCH', '/api/probe/things/x', { json: { count: 'a' } })).status).toBe(422);
    expect((await fixture.call('PATCH', '/api/probe/things/0', { json: { count: 'a' } })).status).toBe(422);
    expect((await fixture.call('PATCH', '/api/probe/things/0', { json: {} })).status).toBe(404);
  });
});

describe('401 on /api/ (rules/http#unauthorized)', () => {
  it.each([null, '', 'Bearer', 'Bearer wrong', 'Basic probe-token', 'probe-token', 'Bearer probe-token x'])(
    'returns the error envelope and the challenge for %j',
    async (auth) => {
      const reply = await fixture.call('GET', thing, { auth });
      expect([reply.status, reply.json, reply.headers['www-authenticate']]).toEqual([
        401,
        { detail: 'Unauthorized' },
        'Bearer',
      ]);
    },
  );

  it('accepts the authentication scheme in any case', async () => {
    expect((await fixture.call('GET', thing, { auth: 'bEARER probe-token' })).status).toBe(200);
  });
});

describe('Unparsable JSON, invalid UTF-8 (rules/http#unparsable-bodies)', () => {
  it.each([
    ['nothing', ''],
    ['blank text', '  '],
    ['half an object', '{"infos":'],
    ['two values', '{} {}'],
    ['a bare word', 'nope'],
    ['a comment', '{/* */}'],
    ['NaN', '{"count":NaN}'],
    ['a raw control character', '{"name":"a\nb"}'],
    ['a form', 'infos=1'],
    ['invalid UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    ['an encoded surrogate', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
    ['UTF-16', Buffer.from('{}', 'utf16le')],
  ])('returns 400 for %s', async (_name, body) => {
    const reply = await fixture.call('PATCH', thing, { body });
    expect([reply.status, reply.json]).toEqual([400, { detail: 'Cannot parse request body' }]);
  });

  it.each([
    'application/json',
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'nonsense',
    undefined,
  ])('reads JSON regardless of the content type: %s', async (type) => {
    const reply = await fixture.call('PATCH', thing, {
      json: { name: 'é€😀' },
      headers: type === undefined ? {} : { 'content-type': type },
    });
    expect([reply.status, reply.json]).toEqual([200, { name: 'é€😀', thing_id: 7 }]);
  });

  it('treats a missing optional body as {}', async () => {
    expect((await fixture.call('POST', '/api/probe/optional', { body: '' })).json).toEqual({});
    expect((await fixture.call('POST', '/api/probe/optional')).json).toEqual({});
    expect((await fixture.call('POST', '/api/probe/optional', { body: ' ' })).status).toBe(400);
  });
});

describe('Content-Encoding (D61)', () => {
  const send = (encoding: string, call: Parameters<Probe['call']>[2] = {}, path = thing) =>
    fixture.call('PATCH', path, { body: gzipSync('{"count":1}'), headers: { 'content-encoding': encoding }, ...call });

  it.each(['gzip', 'deflate', 'br', 'GZIP', 'identity, gzip', 'x-nothing'])(
    'returns 415 for %s on both API surfaces',
    async (encoding) => {
      for (const path of [thing, '/api/v1/probe/things/7']) {
        const reply = await send(encoding, {}, path);
        expect([reply.status, reply.json]).toEqual([415, { detail: expect.any(String) }]);
      }
      expect((await fixture.call('GET', thing, { headers: { 'content-encoding': encoding } })).status).toBe(415);
    },
  );

  it.each(['identity', 'Identity', '', 'identity,identity'])(
    'accepts a body with Content-Encoding %j',
    async (encoding) => {
      expect((await send(encoding, { body: '{"count":1}' })).status).toBe(200);
    },
  );

  it('checks Content-Encoding after route, method and credential', async () => {
    expect((await send('gzip', { auth: null })).status).toBe(401);
    expect((await fixture.call('PUT', thing, { headers: { 'content-encoding': 'gzip' } })).status).toBe(405);
    expect((await send('gzip', {}, '/api/probe/nothing')).status).toBe(404);
  });
});

describe('Limits of errors (D60)', () => {
  const list = async (json: unknown) => (await patch(json)).json.detail;
  const detailed = (count: number) => list({ people: Array.from({ length: count }, () => ({ id: 'x' })) });

  it('lists at most fifty problems of a request', async () => {
    expect([(await detailed(49)).length, (await detailed(50)).length, (await detailed(51)).length]).toEqual([
      49, 50, 50,
    ]);
    expect((await detailed(60_000)).map(({ loc }) => loc)).toEqual(
      Array.from({ length: 50 }, (_value, index) => ['body', 'payload', 'people', index, 'id']),
    );
  });

  it('truncates keys in an error to 120 characters', async () => {
    const claim = { personId: 'x' };
    const [fits, cut] = await list({ claims: { ['a'.repeat(120)]: claim, ['b'.repeat(4_000_000)]: claim } });
    expect([fits?.loc[3], cut?.loc[3]]).toEqual(['a'.repeat(120), 'b'.repeat(120)]);
  });

  it('limits every error response to 64 KiB', async () => {
    const deep = `${'{"\\u0000aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa":'.repeat(60)}1${'}'.repeat(60)}`;
    const reply = await fixture.call('PATCH', thing, { body: `{"infos":${deep}}` });
    expect(reply.status).toBe(422);
    expect(Buffer.byteLength(reply.text)).toBeLessThanOrEqual(65_536);
    expect(reply.json.detail.length).toBeGreaterThan(0);
  });

  it('reports all undeclared fields as one problem', async () => {
    const undeclared = Object.fromEntries(Array.from({ length: 1_000 }, (_value, index) => [`x${index}`, '\u0000']));
    expect((await list({ ...undeclared, count: 'a' })).map(({ loc }) => loc.slice(2))).toEqual([['count'], ['x0']]);
  });

  it('lists at most fifty problems of body, path and query together', async () => {
    const people = Array.from({ length: 100 }, () => ({ id: 'x' }));
    const reply = await fixture.call('PATCH', '/api/probe/things/x', { json: { people } });
    expect(reply.json.detail).toHaveLength(50);
    expect(reply.json.detail[0]?.loc).toEqual(['path', 'thing_id']);
  });
});

describe('Unknown path, wrong method (rules/http#paths-and-methods)', () => {
  it.each([
    '/',
    '/api',
    '/api/',
    '/api/probe',
    '/api/probe/things',
    '/api/probe/things/7/x',
    '/API/probe/things/7',
    '/api//probe/things/7',
    '/apis',
    '/api/v12',
  ])('returns 404 {detail} for %s', async (path) => {
    const reply = await fixture.call('GET', path);
    expect([reply.status, reply.json]).toEqual([404, { detail: 'Not Found' }]);
  });

  it.each(['/api/v1', '/api/v1/', '/api/v1/outreach/x', '/api/v1/probe'])(
    'returns 404 in the v1 envelope for %s',
    async (path) => {
      const reply = await fixture.call('GET', path, { auth: null });
      expect([reply.status, reply.json]).toEqual([
        404,
        { code: 'not_found', message: expect.any(String), retryable: false },
      ]);
    },
  );

  it.each(['DELETE', 'PUT', 'POST', 'PROPFIND'])('returns 405 with Allow for %s', async (method) => {
    const reply = await fixture.call(method, thing, { auth: null });
    expect([reply.status, reply.json, reply.headers['allow']]).toEqual([
      405,
      { detail: 'Method not allowed' },
      'GET, HEAD, PATCH',
    ]);
  });

  it('accepts on a fixed path that also matches a pattern only the methods of the fixed path', async () => {
    expect((await fixture.call('GET', '/api/probe/things/special')).status).toBe(200);
    const reply = await fixture.call('PATCH', '/api/probe/things/special', { json: {} });
    expect([reply.status, reply.headers['allow']]).toEqual([405, 'GET, HEAD']);
  });

  it('returns for HEAD the response to GET without the body', async () => {
    const [get, head] = [await fixture.call('GET', thing), await fixture.call('HEAD', thing)];
    expect([head.status, head.text, head.headers['content-length'], head.headers['etag']]).toEqual([
      200,
      '',
      get.headers['content-length'],
      get.headers['etag'],
    ]);
  });

  it('returns a JSON error envelope also for invalid HTTP', async () => {
    const reply = await fixture.call('GET', thing, { headers: { 'x-long': 'a'.repeat(20_000) } });
    expect([reply.status, reply.json]).toEqual([431, { detail: expect.any(String) }]);
  });
});

describe('422 items (rules/http#validation-items)', () => {
  it('lists the problems of body, path and query together', async () => {
    const reply = await fixture.call('POST', '/api/probe/keyed?person_id=x', { json: {} });
    expect(reply.json).toEqual({
      detail: [
        {
          type: 'int_parsing',
          loc: ['query', 'person_id'],
          msg: 'Input should be a valid integer, unable to parse string as an integer',
        },
        { type: 'missing', loc: ['header', 'Idempotency-Key'], msg: 'Field required' },
        { type: 'missing', loc: ['body', 'payload', 'questionId'], msg: 'Field required' },
      ],
    });
  });

  it('reports every problem of a body', async () => {
    expect(
      await items({ infos: [], count: 101, name: '', kind: 'green', flag: 'maybe', at: 'soon', tags: ['a', 'b', 'c'] }),
    ).toEqual([
      ['dict_type', ['infos']],
      ['less_than_equal', ['count']],
      ['string_too_short', ['name']],
      ['enum', ['kind']],
      ['bool_parsing', ['flag']],
      ['datetime_parsing', ['at']],
      ['too_long', ['tags']],
    ]);
  });

  it.each([
    [{ count: -1 }, ['greater_than_equal', ['count']]],
    [{ count: 'abc' }, ['int_parsing', ['count']]],
    [{ count: '5' }, ['int_type', ['count']]],
    [{ count: null }, ['int_type', ['count']]],
    [{ count: 1.5 }, ['int_from_float', ['count']]],
    [{ count: true }, ['int_type', ['count']]],
    [{ name: 'abcdef' }, ['string_too_long', ['name']]],
    [{ name: 5 }, ['string_type', ['name']]],
    [{ kind: null }, ['enum', ['kind']]],
    [{ flag: 1 }, ['bool_type', ['flag']]],
    [{ at: 5 }, ['datetime_type', ['at']]],
    [{ due: '2026-05-01T10:00:00' }, ['timezone_aware', ['due']]],
    [{ due: '2026-13-01T10:00:00Z' }, ['datetime_parsing', ['due']]],
    [{ tags: {} }, ['list_type', ['tags']]],
    [{ tags: ['a', 1] }, ['string_type', ['tags', 1]]],
    [{ people: [{ id: 1 }, {}] }, ['missing', ['people', 1, 'id']]],
    [{ claims: { '1': { personId: 'x' } } }, ['int_parsing', ['claims', '1', 'personId']]],
    [{ claims: { 'a/b~c': { personId: [] } } }, ['int_type', ['claims', 'a/b~c', 'personId']]],
    [[], ['dict_type', []]],
    ['text', ['dict_type', []]],
    [null, ['dict_type', []]],
  ])('returns the validation item for %j', async (json, item) => {
    expect(await items(json)).toEqual([item]);
  });

  it('includes the violated bound of a validation item in ctx', async () => {
    const [item] = (await patch({ tags: ['a', 'b', 'c'] })).json.detail;
    expect(item).toEqual({
      type: 'too_long',
      loc: ['body', 'payload', 'tags'],
      msg: 'List should have at most 2 items after validation, not 3',
      ctx: { field_type: 'List', max_length: 2, actual_length: 3 },
    });
  });

  it.each([
    ['limit=x', 'int_parsing', 'limit'],
    ['limit=', 'int_parsing', 'limit'],
    ['limit=1.0', 'int_parsing', 'limit'],
    ['limit=0', 'greater_than_equal', 'limit'],
    ['limit=51', 'less_than_equal', 'limit'],
    ['offset=99999999999999999999', 'less_than_equal', 'offset'],
    ['flag=perhaps', 'bool_parsing', 'flag'],
    ['time=yesterday', 'datetime_parsing', 'time'],
    ['slug=a%00b', 'string_unicode', 'slug'],
  ])('validates the query %s', async (query, type, name) => {
    const reply = await fixture.call('GET', `/api/probe/list?${query}`);
    expect([reply.status, reply.json.detail[0]]).toEqual([
      422,
      expect.objectContaining({ type, loc: ['query', name] }),
    ]);
  });

  it.each([
    ['99999999999999999999', { le: 50 }],
    ['-99999999999999999999', { ge: 1 }],
  ])('reports the bound of the parameter that %s violates', async (limit, ctx) => {
    const { json } = await fixture.call('GET', `/api/probe/list?limit=${limit}`);
    expect(json.detail).toEqual([
      expect.objectContaining({ ctx, msg: expect.stringMatching(new RegExp(` ${Object.values(ctx)[0]}$`)) }),
    ]);
  });

  it.each(['', ' ', '\t', 'k'.repeat(256)])('rejects the header value %j', async (key) => {
    const reply = await fixture.call('POST', '/api/probe/keyed?person_id=1', {
      json: { questionId: 1 },
      headers: { 'Idempotency-Key': key },
    });
    expect([reply.status, reply.json.detail[0]?.loc]).toEqual([422, ['header', 'Idempotency-Key']]);
  });

  it('maps the outcome in a service reply to its HTTP status', async () => {
    const reply = await fixture.call('POST', '/api/probe/keyed?person_id=1', {
      json: { questionId: 1 },
      headers: { 'idempotency-key': 'k' },
    });
    expect([reply.status, reply.json]).toEqual([201, { key: 'k', questionId: 1 }]);
  });
});

describe('Trailing slash (rules/http#paths-and-methods)', () => {
  it.each([thing, '/api/probe/list', '/api/probe/slugs/abc', '/api/probe/v1/x:y', '/api/v1/probe/list'])(
    'accepts an optional trailing slash on %s without a redirect',
    async (path) => {
      expect([(await fixture.call('GET', path)).status, (await fixture.call('GET', `${path}/`)).status]).toEqual([
        200, 200,
      ]);
    },
  );
});

describe('Unknown query parameters and body fields (rules/http#paths-and-methods)', () => {
  it('ignores unknown query parameters and body fields and does not forward them', async () => {
    const reply = await fixture.call('PATCH', `${thing}?thing_id=9&x=1`, {
      json: { thing_id: 8, count: 1, other: true },
    });
    expect([reply.status, reply.json]).toEqual([200, { count: 1, thing_id: 7 }]);
    expect((await fixture.call('GET', '/api/probe/list?x=1&limit=5')).json).toEqual({ limit: 5 });
  });

  it('uses the last of repeated query parameters, and the default of missing ones', async () => {
    expect((await fixture.call('GET', '/api/probe/list?limit=99&limit=3')).json).toEqual({ limit: 3 });
    expect((await fixture.call('GET', '/api/probe/list')).json).toEqual({ limit: 20 });
  });
});
