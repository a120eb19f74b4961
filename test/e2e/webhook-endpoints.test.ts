/**
 * Webhook endpoints of the open API: ownership, allowed values, and secrets (rules/events#endpoints; V5, V11, A1, I1,
 * I2, I4).
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Answer, startTestPlatform, type TestPlatform } from './test-platform.ts';

let platform: TestPlatform;
const tokens: Record<string, string> = {};
beforeAll(async () => {
  platform = await startTestPlatform(
    import.meta.url,
    {
      WEBHOOK_ALLOWED_HOSTS: 'hooks.internal http://plain.internal,10.1.2.3:8443',
      OUTBOUND_ALLOWED_HOSTS: '10.1.2.4:8443',
    },
    { services: ['api-gateway', 'directory', 'conversations', 'events'] },
  );
  const names = ['ann', 'ben', 'eve', 'root'];
  await platform.apply({
    people: names.map((key) => ({ key, name: key })),
    accounts: names.map((name) => ({
      email: `${name}@example.org`,
      person: name,
      password: `secret-of-${name}-1`,
      ...(name === 'root' && { superuser: true }),
    })),
  });
  for (const name of names) tokens[name] = await platform.login(`${name}@example.org`, `secret-of-${name}-1`);
});
afterAll(() => platform.stop());

const root = '/api/v1/webhook-endpoints';
const call = (
  method: string,
  path: string,
  json?: unknown,
  as = 'ann',
  headers: Record<string, string> = {},
): Promise<Answer> =>
  platform.call(method, `${root}${path}`, { token: tokens[as] ?? '', headers, ...(json !== undefined && { json }) });
const create = (json: Record<string, unknown> = {}, as = 'ann', headers?: Record<string, string>): Promise<Answer> =>
  call('POST', '', { url: 'https://example.com/hook', ...json }, as, headers);
const secretShape = /^whsec_[A-Za-z0-9+/]{43}=$/;

describe('POST /api/v1/webhook-endpoints (V5, V11)', () => {
  it('creates a webhook endpoint and returns its secret once', async () => {
    const made = await create({ description: 'Archive', types: ['conversation.*', 'question.changed'] });
    expect(made.status).toBe(201);
    expect(made.json).toEqual({
      endpoint: {
        id: expect.any(Number),
        account_id: expect.any(Number),
        url: 'https://example.com/hook',
        types: ['conversation.*', 'question.changed'],
        description: 'Archive',
        created_at: expect.any(String),
        created_by_key_id: null,
        disabled: false,
        disabled_at: null,
        disabled_reason: null,
        failing_since: null,
        recovering: false,
        rotating_until: null,
      },
      secret: expect.stringMatching(secretShape),
    });
    const read = await call('GET', `/${made.json.endpoint.id}`);
    expect([read.status, read.json]).toEqual([200, { endpoint: made.json.endpoint }]);
    expect((await call('GET', '')).json.items).toContainEqual(made.json.endpoint);
    const held = { 'if-none-match': read.headers.get('etag') ?? '' };
    expect((await call('GET', `/${made.json.endpoint.id}`, undefined, 'ann', held)).status).toBe(304);
  });

  it('accepts https URLs, and URLs of the hosts in WEBHOOK_ALLOWED_HOSTS', async () => {
    for (const url of [
      'https://example.com:8443/a?b=c',
      'http://plain.internal/x',
      'https://10.1.2.3:8443/',
      'https://[2606:4700::1111]/',
    ])
      expect([url, (await create({ url }, 'eve')).status]).toEqual([url, 201]);
    const { json } = await create({ url: 'https://EXAMPLE.com/a#part' }, 'eve');
    expect(json.endpoint.url).toBe('https://example.com/a');
  });

  it.each([
    'http://example.com/',
    'ftp://example.com/',
    'example.com',
    'https://',
    'https://user@example.com/',
    'https://:password@example.com/',
    'https://user:password@hooks.internal/',
    'https://127.0.0.1/',
    'https://127.1/',
    'https://2130706433/',
    'https://0x7f000001/',
    'https://0177.0.0.1/',
    'https://127.0.0.1./',
    'https://0.0.0.0/',
    'https://10.1.2.3/',
    'https://10.1.2.3:8444/',
    'https://10.1.2.4:8443/',
    'http://hooks.internal/',
    'http://plain.internal:8080/',
    'https://172.16.0.1/',
    'https://192.168.1.1/',
    'https://169.254.169.254/latest/meta-data/',
    'https://100.64.0.1/',
    'https://100.127.255.254/',
    'https://[::1]/',
    'https://[::]/',
    'https://[fe80::1]/',
    'https://[fc00::1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[::ffff:7f00:1]/',
    'https://[::127.0.0.1]/',
    'https://[::a01:203]/',
    'https://[64:ff9b::7f00:1]/',
    'https://[64:ff9b:1::a00:1]/',
    'https://[2002:7f00:1::]/',
    'https://１２７.0.0.1/',
  ])('rejects the endpoint %s', async (url) => {
    const answer = await create({ url });
    expect([answer.status, answer.json.code]).toEqual([400, 'validation_error']);
  });

  it('rejects unknown event types, and fields that are not text', async () => {
    for (const types of [['conversation.eaten'], ['*'], ['conversation.created,question.changed'], ['conversation']]) {
      const answer = await create({ types });
      expect([types, answer.status, answer.json.code]).toEqual([types, 400, 'validation_error']);
    }
    for (const wrong of [
      { types: [] },
      { types: 'conversation.*' },
      { url: 7 },
      { url: '' },
      { description: 'two\nlines' },
    ])
      expect([wrong, (await create(wrong)).status]).toEqual([wrong, 422]);
  });

  it('allows twenty endpoints per account, also for concurrent requests, and lists them in pages, newest first', async () => {
    const answers = await Promise.all(Array.from({ length: 23 }, () => create({}, 'ben')));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(20);
    const refused = answers.filter(({ status }) => status === 409);
    expect(refused.map(({ json }) => json.code)).toEqual(Array(3).fill('too_many_endpoints'));
    const idsOf = async (query: string): Promise<number[]> =>
      (await call('GET', query, undefined, 'ben')).json.items.map(({ id }: { id: number }) => id);
    const all = await idsOf('');
    expect(all).toEqual(all.toSorted((one, other) => other - one));
    expect([await idsOf('?limit=12'), await idsOf('?limit=12&offset=12')]).toEqual([all.slice(0, 12), all.slice(12)]);
    const [first] = (await call('GET', '', undefined, 'ben')).json.items;
    expect((await call('DELETE', `/${first.id}`, undefined, 'ben')).status).toBe(204);
    expect((await create({}, 'ben')).status).toBe(201);
  });

  it('accepts a service key that may not read the feed, and still denies the feed to it (V5, K4)', async () => {
    const own = { name: 'Hooks', scopes: ['webhooks:write'] };
    const { json: made } = await platform.call('POST', '/api/v1/keys', { token: tokens['eve'] ?? '', json: own });
    const [endpoint, feed] = await Promise.all([
      platform.call('POST', root, { token: made.token, json: { url: 'https://example.com/by-a-key' } }),
      platform.call('GET', '/api/v1/events', { token: made.token }),
    ]);
    expect(endpoint.status).toBe(201);
    expect((await call('GET', `/${endpoint.json.endpoint.id}`, undefined, 'eve')).status).toBe(200);
    expect([feed.status, feed.json]).toEqual([
      403,
      expect.objectContaining({ code: 'insufficient_scope', required_scope: 'events:read' }),
    ]);
  });

  it('replays the response of an Idempotency-Key without the secret, which is not stored with the response (I1, I4)', async () => {
    const key = { 'idempotency-key': randomUUID() };
    const made = await create({ description: 'once' }, 'ann', key);
    const again = await create({ description: 'once' }, 'ann', key);
    expect([made.status, again.status, again.headers.get('idempotent-replayed')]).toEqual([201, 201, 'true']);
    expect(again.json).toEqual({ endpoint: made.json.endpoint });
    const text = String(made.json.secret).slice('whsec_'.length);
    expect(await platform.findInDatabase(text)).toEqual([]);
    expect(await platform.findInDatabase(Buffer.from(text, 'base64').toString('hex'))).toEqual([
      'events.webhook_endpoints',
    ]);
    expect(await platform.readLogs()).not.toContain(text);
  });
});

describe('webhook endpoints of other accounts (V5)', () => {
  it('return 404, except for superusers', async () => {
    const { id } = (await create({ description: 'mine' })).json.endpoint;
    for (const [method, path, json] of [
      ['GET', `/${id}`],
      ['POST', `/${id}/update`, { description: 'yours' }],
      ['DELETE', `/${id}`],
      ['POST', `/${id}/rotate-secret`, {}],
      ['POST', `/${id}/test`, {}],
      ['GET', `/${id}/deliveries`],
      ['POST', `/${id}/deliveries/${randomUUID()}/redeliver`, {}],
      ['POST', `/${id}/recover`, { since: '2030-01-01T00:00:00Z' }],
    ] as const) {
      const [theirs, nobodys] = await Promise.all([
        call(method, path, json, 'eve'),
        call(method, path.replace(String(id), '99999999'), json, 'eve'),
      ]);
      expect([method, path, theirs.status, theirs.text]).toEqual([method, path, 404, nobodys.text]);
    }
    expect((await call('GET', '', undefined, 'eve')).json.items).not.toContainEqual(expect.objectContaining({ id }));
    expect((await call('GET', `/${id}`, undefined, 'root')).status).toBe(200);
    expect((await call('GET', '', undefined, 'root')).json.items).toContainEqual(
      expect.objectContaining({ id, description: 'mine' }),
    );
  });
});

describe('POST /api/v1/webhook-endpoints/{id}/update (V11, I2)', () => {
  it('changes the supplied fields if the endpoint is unchanged since the caller read it', async () => {
    const { id } = (await create({ types: ['question.changed'] })).json.endpoint;
    const read = await call('GET', `/${id}`);
    const tag = read.headers.get('etag') ?? '';
    const changed = await call('POST', `/${id}/update`, { types: null, description: 'All' }, 'ann', {
      'if-match': tag,
    });
    expect([changed.status, changed.json.endpoint]).toEqual([
      200,
      { ...read.json.endpoint, types: null, description: 'All' },
    ]);
    expect(changed.headers.get('etag')).toBe((await call('GET', `/${id}`)).headers.get('etag'));
    const late = await call('POST', `/${id}/update`, { description: 'Late' }, 'ann', { 'if-match': tag });
    expect([late.status, late.json.code]).toEqual([412, 'precondition_failed']);
    expect((await call('POST', `/${id}/update`, { url: 'https://127.0.0.1/' })).status).toBe(400);
    expect((await call('GET', `/${id}`)).json.endpoint).toEqual(changed.json.endpoint);
  });

  it('disables and enables a webhook endpoint', async () => {
    const { id } = (await create()).json.endpoint;
    const off = await call('POST', `/${id}/update`, { disabled: true });
    expect(off.json.endpoint).toMatchObject({
      disabled: true,
      disabled_reason: 'requested',
      disabled_at: expect.any(String),
    });
    for (const path of ['test', 'recover']) {
      const refused = await call('POST', `/${id}/${path}`, path === 'test' ? {} : { since: '2030-01-01T00:00:00Z' });
      expect([path, refused.status, refused.json.code]).toEqual([path, 409, 'endpoint_disabled']);
    }
    const on = await call('POST', `/${id}/update`, { disabled: false });
    expect(on.json.endpoint).toMatchObject({ disabled: false, disabled_reason: null, disabled_at: null });
  });
});

describe('POST /api/v1/webhook-endpoints/{id}/rotate-secret (V5, V11)', () => {
  it('returns a new secret, and the end of the period in which the old secret also signs', async () => {
    const made = (await create()).json;
    const path = `/${made.endpoint.id}/rotate-secret`;
    const rotated = await call('POST', path);
    expect(rotated.json.secret).toMatch(secretShape);
    expect(rotated.json.secret).not.toBe(made.secret);
    const leftMs = Date.parse(rotated.json.endpoint.rotating_until) - Date.now();
    expect(Math.abs(leftMs - 86_400_000)).toBeLessThan(60_000);
    expect((await call('POST', path, { overlap_seconds: 0 })).json.endpoint.rotating_until).toBeNull();
    for (const overlap of [-1, 604_801, 1.5, 'day'])
      expect((await call('POST', path, { overlap_seconds: overlap })).status).toBe(422);
  });
});

describe('DELETE /api/v1/webhook-endpoints/{id} (V5)', () => {
  it('deletes a webhook endpoint', async () => {
    const { id } = (await create()).json.endpoint;
    const gone = await call('DELETE', `/${id}`);
    expect([gone.status, gone.text]).toEqual([204, '']);
    expect((await call('DELETE', `/${id}`)).status).toBe(404);
    expect((await call('GET', `/${id}`)).status).toBe(404);
  });
});

describe('POST /api/v1/keys/{id}/revoke (K5, V5)', () => {
  const makeKey = async (as: string): Promise<{ key: { id: string }; token: string }> =>
    (
      await platform.call('POST', '/api/v1/keys', {
        token: tokens[as] ?? '',
        json: { name: 'A program', scopes: ['webhooks:write'] },
      })
    ).json;
  const revoke = (id: string, as: string, headers: Record<string, string> = {}): Promise<Answer> =>
    platform.call('POST', `/api/v1/keys/${id}/revoke`, { token: tokens[as] ?? '', json: {}, headers });

  it('returns the webhook endpoints that the revoked key created, and no others', async () => {
    const { key, token } = await makeKey('eve');
    tokens['key'] = token;
    const made: { id: number; created_by_key_id: string }[] = [];
    for (const url of [
      'https://one.example.com/token-in-path',
      'https://two.example.com:8443/',
      'https://gone.example.com/',
    ])
      made.push((await create({ url, description: 'By a key' }, 'key')).json.endpoint);
    expect(made.map(({ created_by_key_id: id }) => id)).toEqual([key.id, key.id, key.id]);
    await create({}, 'eve');
    await create({}, 'ann');
    await call('POST', `/${made[1]?.id}/update`, { disabled: true }, 'eve');
    await call('DELETE', `/${made[2]?.id}`, undefined, 'eve');
    const listed = [
      { id: made[1]?.id, url_host: 'two.example.com:8443', description: 'By a key', disabled: true },
      { id: made[0]?.id, url_host: 'one.example.com', description: 'By a key', disabled: false },
    ];
    expect((await revoke(key.id, 'ann')).status).toBe(404);
    const headers = { 'idempotency-key': randomUUID() };
    for (const as of ['eve', 'eve', 'root']) {
      const revoked = await revoke(key.id, as, headers);
      expect([revoked.status, revoked.json.key.id, revoked.json.webhook_endpoints]).toEqual([200, key.id, listed]);
    }
    const { stdout } = await platform.cli('keys', 'revoke', key.id, '--yes');
    expect(stdout).toMatch(
      /^ENDPOINT +HOST +STATE +DESCRIPTION *\n +\d+ +two\.example\.com:8443 +disabled +By a key\n/m,
    );
  });

  it('returns an empty list for a revoked key that created no endpoint', async () => {
    const { key } = await makeKey('eve');
    expect((await revoke(key.id, 'eve')).json.webhook_endpoints).toEqual([]);
  });
});

describe('audit log of webhook endpoints (A1)', () => {
  it('records each change of an endpoint, without its URL and secret', async () => {
    const made = (await create({ url: 'https://example.com/token-in-path' })).json;
    const { id } = made.endpoint;
    await call('POST', `/${id}/update`, { description: 'Changed' });
    await call('POST', `/${id}/update`, { description: 'Changed' });
    await call('POST', `/${id}/rotate-secret`, { overlap_seconds: 60 });
    await call('POST', `/${id}/test`);
    await call('POST', `/${id}/recover`, { since: '2026-01-01T00:00:00Z' });
    await call('DELETE', `/${id}`);
    const entries = await platform.sql<{ action: string; changes: string | null; text: string }>(
      `select action, changes::text as changes, row_to_json(a)::text as text from events.audit_log a where target_type = 'webhook_endpoint' and target_id = $1 order by id`,
      [String(id)],
    );
    expect(entries.map(({ action, changes }) => [action, JSON.parse(changes ?? 'null')])).toEqual([
      ['webhook-endpoint.create', { account_id: made.endpoint.account_id, types: null }],
      ['webhook-endpoint.update', { fields: ['description'] }],
      ['webhook-endpoint.rotate-secret', { overlap_seconds: 60 }],
      ['webhook-endpoint.test', null],
      ['webhook-endpoint.recover', { since: expect.any(String) }],
      ['webhook-endpoint.delete', null],
    ]);
    for (const { text } of entries) expect(text).not.toMatch(/token-in-path|whsec_|Changed/);
  });
});
