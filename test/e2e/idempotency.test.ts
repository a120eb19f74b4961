/**
 * Retries without repeated effects: `Idempotency-Key` and `If-Match` of the open API (rules/http#idempotency-keys; I1,
 * I2, I4).
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import sharp from 'sharp';
import { waitFor, waitForLockWait } from '#libs/product/testing';
import { routes } from '../../services/api-gateway/routes/index.ts';
import { holdLocks } from '../hold-locks.ts';
import { type Answer, type Applied, startTestPlatform, type TestPlatform } from './test-platform.ts';

let platform: TestPlatform;
let ids: Applied['ids'];
let ed: string;
let hana: string;
beforeAll(async () => {
  platform = await startTestPlatform(
    import.meta.url,
    {},
    { services: ['api-gateway', 'conversations', 'directory', 'media', 'events'] },
  );
  ({ ids } = await platform.apply({
    classes: [
      { slug: 'camp', allowed_children: ['workshop'], journeys: ['joining'] },
      { slug: 'experience' },
      { slug: 'workshop', parent: 'experience' },
    ],
    journeys: [
      { slug: 'joining', name: 'Joining', steps: ['asked', 'there', 'gone'].map((slug) => ({ slug, title: slug })) },
    ],
    people: ['ed', 'hana', 'ina', 'zoe'].map((key) => ({ key, name: key })),
    holons: [
      { slug: 'summer', name: 'Summer', class: 'camp' },
      { slug: 'winter', name: 'Winter', class: 'camp' },
      { slug: 'bread', name: 'Bread', class: 'workshop', parent: 'winter' },
    ],
    accounts: [
      { email: 'ed@example.org', person: 'ed', password: 'secret-of-ed', superuser: true },
      { email: 'hana@example.org', person: 'hana', password: 'secret-of-hana', teams: [{ holon: 'summer' }] },
    ],
    memberships: [
      { key: 'hana-summer', person: 'hana', holon: 'summer', journey: 'joining', step: 'asked' },
      { key: 'zoe-winter', person: 'zoe', holon: 'winter', journey: 'joining', step: 'asked', responsible: 'ed' },
    ],
    relationships: [{ key: 'both', from: 'summer', to: 'winter', journey: 'joining', step: 'asked' }],
  }));
  ed = await platform.login('ed@example.org', 'secret-of-ed');
  hana = await platform.login('hana@example.org', 'secret-of-hana');
});
afterAll(() => platform.stop());

const id = (list: string, key: string): number => ids[list]?.[key] ?? 0;
const post = (
  path: string,
  json: unknown,
  key?: string,
  token = ed,
  headers: Record<string, string> = {},
): Promise<Answer> =>
  platform.call('POST', `/api/v1${path}`, {
    token,
    json,
    headers: { ...(key === undefined ? {} : { 'idempotency-key': key }), ...headers },
  });
const isReplayed = ({ headers }: Answer): boolean => headers.get('idempotent-replayed') === 'true';
const countPeople = async (name: string): Promise<number> =>
  Number(
    (await platform.sql<{ count: string }>('select count(*) from directory.people where name = $1', [name]))[0]?.count,
  );
const kept = (key: string) => platform.sql('select 1 from directory.kept_answers where key = $1', [key]);

describe('Idempotency-Key (I1, I4)', () => {
  it('accepts the Idempotency-Key on every POST except login, and on key operations, whose response it does not store (K10)', () => {
    const writes = routes.filter(
      ({ method, path }) => method === 'POST' && path.startsWith('/api/v1/') && !path.startsWith('/api/v1/auth/'),
    );
    const without = writes.filter((route) => route.idempotent !== true).map(({ operationId }) => operationId);
    expect(without).toEqual(['createKey', 'rotateKey']);
    expect(writes.length).toBeGreaterThan(without.length);
  });

  it('applies fifty concurrent requests with one key once, and returns to each the same response or a request to retry', async () => {
    const key = randomUUID();
    const answers = await Promise.all(Array.from({ length: 50 }, () => post('/people', { name: 'One of fifty' }, key)));
    expect(await countPeople('One of fifty')).toBe(1);
    const made = answers.filter(({ status }) => status === 201);
    expect(made.filter((answer) => !isReplayed(answer))).toHaveLength(1);
    expect(new Set(made.map(({ text }) => text)).size).toBe(1);
    for (const answer of answers.filter(({ status }) => status !== 201)) {
      expect([answer.status, answer.json]).toEqual([
        409,
        { code: 'idempotency_in_progress', message: expect.any(String), retryable: true },
      ]);
    }
    const again = await post('/people', { name: 'One of fifty' }, key);
    expect([again.status, again.text, isReplayed(again)]).toEqual([201, made[0]?.text, true]);
  });

  it('returns a retryable error to concurrent requests while the first request with the key runs', async () => {
    const key = randomUUID();
    const path = `/holons/${id('holons', 'summer')}/update`;
    const letGo = await holdLocks(platform, `select 1 from directory.holons where slug = 'summer' for update`);
    const made = post(path, { name: 'Summer' }, key);
    await waitForLockWait(platform.sql);
    const refused = await post(path, { name: 'Summer' }, key);
    expect([refused.status, refused.json.code]).toEqual([409, 'idempotency_in_progress']);
    expect([await letGo(), (await made).status]).toEqual(['stopped', 200]);
  });

  it('rejects a concurrent request with the same key for every operation, without starting the operation', async () => {
    const key = randomUUID();
    const { body: made } = await platform.client.createWebhookEndpoint(
      { body: { url: 'https://example.com/' } },
      { token: ed },
    );
    const { body: to } = await platform.client.createKey(
      { body: { name: 'Not revoked', scopes: ['*'] } },
      { token: ed },
    );
    const form = new FormData();
    form.append('logo', new Blob(['a picture']), 'logo.png');
    const requests: readonly (readonly [operation: string, path: string, body: object])[] = [
      ['directory.people.merge', `/people/${id('people', 'ina')}/merge`, { into: id('people', 'zoe') }],
      [
        'directory.experiences.create',
        '/experiences',
        { parent_id: id('holons', 'winter'), name: 'Not made', description: 'Yet.' },
      ],
      [
        'directory.memberships.update',
        `/memberships/${id('memberships', 'zoe-winter')}/update`,
        { note: 'Not written.' },
      ],
      [
        'directory.relationships.update',
        `/relationships/${id('relationships', 'both')}/update`,
        { note: 'Not written.' },
      ],
      ['directory.keys.revoke', `/keys/${to.key.id}/revoke`, {}],
      ['media.logos.upload', `/experiences/${id('holons', 'bread')}/logo`, form],
      ['events.endpoints.update', `/webhook-endpoints/${made.endpoint.id}/update`, { description: 'Not changed' }],
      ['events.endpoints.rotate-secret', `/webhook-endpoints/${made.endpoint.id}/rotate-secret`, {}],
    ];
    // Another database session holds the locks of all these keys until the test releases them.
    const turn = `hashtextextended(json_build_array('kept-answer', $1::integer, operation, $2::text)::text, 0)`;
    const letGo = await holdLocks(platform, `select pg_advisory_xact_lock(${turn}) from unnest($3::text[]) operation`, [
      made.endpoint.account_id,
      key,
      requests.map(([operation]) => operation),
    ]);
    for (const [operation, path, body] of requests) {
      const call = {
        token: ed,
        headers: { 'idempotency-key': key },
        ...(body === form ? { body: form } : { json: body }),
      };
      const answer = await platform.call('POST', `/api/v1${path}`, call);
      expect([operation, answer.status, answer.json?.code]).toEqual([operation, 409, 'idempotency_in_progress']);
    }
    expect(await letGo()).toBe('stopped');
    expect(await platform.sql(`select 1 from directory.notes where body = 'Not written.'`)).toEqual([]);
  });

  it('replays an error of the operation, even if the cause of the error no longer exists', async () => {
    const key = randomUUID();
    const taken = await post('/people', { name: 'Vera', contact: { email: 'vera@example.org' } });
    const twin = { name: 'Vera too', contact: { email: 'vera@example.org' } };
    const refused = await post('/people', twin, key);
    expect([refused.status, isReplayed(refused)]).toEqual([409, false]);
    await platform.sql(`update directory.people set contact = '{}' where id = $1`, [taken.json.person.id]);
    const again = await post('/people', twin, key);
    expect([again.status, again.json, isReplayed(again)]).toEqual([409, refused.json, true]);
    const blank = await post('/people', { name: ' ' }, key + 1);
    expect([blank.status, (await post('/people', { name: ' ' }, key + 1)).headers.get('idempotent-replayed')]).toEqual([
      400,
      'true',
    ]);
  });

  it('rejects a request with the same key and other values or another path, before it resolves objects', async () => {
    const key = randomUUID();
    const path = (slug: string | number): string =>
      `/holons/${typeof slug === 'number' ? slug : id('holons', slug)}/update`;
    const links = { site: 'https://a.example.org/', blog: 'https://b.example.org/' };
    expect((await post(path('summer'), { links, spheres: [] }, key)).status).toBe(200);
    const same = await platform.call('POST', `/api/v1${path('summer')}`, {
      token: ed,
      body: ` {"spheres": [], "links":{"blog":"https:\\/\\/b.example.org/","site":"https://a.example.org/"}} `,
      headers: { 'idempotency-key': key, 'content-type': 'text/plain' },
    });
    expect([same.status, isReplayed(same)]).toEqual([200, true]);
    const reused = { code: 'idempotency_key_reused', message: expect.any(String), retryable: false };
    for (const [slug, json] of [
      ['summer', { links: { site: links.site }, spheres: [] }],
      ['winter', { links, spheres: [] }],
      [999_999_999, { links, spheres: [] }],
      ['summer', { links, spheres: [], name: ' ' }],
    ] as const) {
      const answer = await post(path(slug), json, key);
      expect([answer.status, answer.json]).toEqual([422, reused]);
    }
  });

  it('scopes a key to an account and an operation', async () => {
    const key = randomUUID();
    const path = `/holons/${id('holons', 'summer')}/update`;
    expect((await post(path, { name: 'Summer of Ed' }, key)).status).toBe(200);
    const ofHana = await post(path, { name: 'Summer of Hana' }, key, hana);
    expect([ofHana.status, isReplayed(ofHana), ofHana.json.holon.name]).toEqual([200, false, 'Summer of Hana']);
    const other = await post('/people', { name: 'Under the same key' }, key);
    expect([other.status, isReplayed(other)]).toEqual([201, false]);
    const { body } = await platform.client.createKey(
      { body: { name: 'A program', scopes: ['directory:write'] } },
      { token: ed },
    );
    expect(isReplayed(await post(path, { name: 'Summer of Ed' }, key, body.token))).toBe(true);
  });

  it('allows reusing a key after an error before the operation, and after a transient error', async () => {
    const [key, summer] = [randomUUID(), `/holons/${id('holons', 'summer')}/update`];
    const statuses = [
      await platform.call('POST', `/api/v1${summer}`, {
        token: null,
        json: { name: 'x' },
        headers: { 'idempotency-key': key },
      }),
      await post(`/holons/${id('holons', 'winter')}/update`, { name: 'x' }, key, hana),
      await post('/holons/999999999/update', { name: 'x' }, key, hana),
      await post(summer, { name: 5 }, key, hana),
      await platform.call('POST', `/api/v1${summer}`, { token: hana, body: '{', headers: { 'idempotency-key': key } }),
      await platform.call('POST', `/api/v1${summer}`, {
        token: hana,
        body: 'x'.repeat(4_194_305),
        headers: { 'idempotency-key': key },
      }),
    ].map(({ status }) => status);
    expect(statuses).toEqual([401, 403, 404, 422, 400, 413]);
    const fresh = await post(summer, { name: 'Summer again' }, key, hana);
    expect([fresh.status, isReplayed(fresh)]).toEqual([200, false]);
  });

  it.each(['', 'x'.repeat(256), 'with space', 'tab\there', 'umlaut-\u00e4'])(
    'rejects the Idempotency-Key %j, which is not 1 to 255 visible ASCII characters',
    async (key) => {
      const answer = await post('/people', { name: 'Never made' }, key);
      expect([answer.status, answer.json.detail[0].loc]).toEqual([422, ['header', 'Idempotency-Key']]);
      expect(await countPeople('Never made')).toBe(0);
    },
  );

  it('applies updates with notes, bulk writes, experiences and key revocations once per Idempotency-Key', async () => {
    const { body } = await platform.client.createKey({ body: { name: 'To be revoked', scopes: ['*'] } }, { token: ed });
    const winter = id('holons', 'winter');
    for (const [path, json] of [
      [`/memberships/${id('memberships', 'zoe-winter')}/update`, { note: 'Once.', advance_step: true }],
      [`/relationships/${id('relationships', 'both')}/update`, { note: 'Once.', advance_step: true }],
      [
        `/holons/${winter}/memberships:bulk-add`,
        { memberships: [{ person_id: id('people', 'ina') }], journey_slug: 'joining' },
      ],
      ['/experiences', { parent_id: winter, name: 'Once', description: 'Only.' }],
      [`/keys/${body.key.id}/revoke`, {}],
    ] as const) {
      const key = randomUUID();
      const first = await post(path, json, key);
      const second = await post(path, json, key);
      expect([first.status < 300, isReplayed(first), second.status, second.text, isReplayed(second)]).toEqual([
        true,
        false,
        first.status,
        first.text,
        true,
      ]);
    }
    expect(await platform.sql(`select 1 from directory.notes where body = 'Once.'`)).toHaveLength(2);
    expect(await platform.sql(`select 1 from directory.holons where name = 'Once'`)).toHaveLength(1);
  });

  it('replays a response only to a caller who may still call the operation (D89)', async () => {
    const summer = id('holons', 'summer');
    const membership = id('memberships', 'hana-summer');
    const { body: made } = await platform.client.createWebhookEndpoint(
      { body: { url: 'https://example.com/' } },
      { token: ed },
    );
    const [gone, stays] = await Promise.all(
      ['Twin', 'Twin'].map(async (name) => (await post('/people', { name })).json.person.id),
    );
    const requests: readonly (readonly [token: string, path: string, json: object, first: number, then: number])[] = [
      [hana, `/holons/${summer}/update`, { name: 'Summer, once' }, 200, 403],
      [hana, `/holons/${summer}/update`, { name: ' ' }, 400, 403],
      [hana, `/memberships/${membership}/update`, { note: 'Private' }, 200, 403],
      [
        hana,
        `/holons/${summer}/memberships:bulk-add`,
        { memberships: [{ person_id: id('people', 'ina') }], journey_slug: 'joining' },
        200,
        403,
      ],
      [hana, '/experiences', { parent_id: summer, name: 'Of summer', description: 'Once.' }, 201, 403],
      [ed, '/people', { name: 'Made by a superuser' }, 201, 403],
      [ed, `/people/${gone}/merge`, { into: stays }, 200, 403],
      [ed, `/webhook-endpoints/${made.endpoint.id}/update`, { description: 'Mine' }, 200, 200],
    ];
    const keys = requests.map(() => randomUUID());
    const ask = () => Promise.all(requests.map(([token, path, json], index) => post(path, json, keys[index], token)));
    const firsts = [];
    for (const [index, [token, path, json]] of requests.entries())
      firsts.push(await post(path, json, keys[index], token));
    expect(firsts.map(({ status }) => status)).toEqual(requests.map(([, , , first]) => first));
    const again = await ask();
    expect(again.map((answer) => [answer.text, isReplayed(answer)])).toEqual(firsts.map(({ text }) => [text, true]));
    await platform.sql('update directory.team_authority set is_active = false');
    await platform.ask('accounts', 'grant', 'ed@example.org', '--no-superuser');
    const isSuperuser = (expected: boolean) =>
      waitFor(async () => ((await platform.call('GET', '/api/ops/audit', { token: ed })).status !== 403) === expected, {
        what: 'rights',
      });
    await isSuperuser(false);
    const late = await ask();
    expect(late.map(({ status }) => status)).toEqual(requests.map(([, , , , then]) => then));
    expect(late.map(isReplayed)).toEqual(requests.map(([, , , , then]) => then === 200));
    for (const { text } of late.slice(0, -1)) expect(text).toMatch(/^\{"code":"permission_denied"/);
    await platform.ask('accounts', 'grant', 'ed@example.org', '--superuser');
    await platform.sql('update directory.team_authority set is_active = true');
    await isSuperuser(true);
  });

  it('stores no response of creating or rotating service keys (K10)', async () => {
    const key = randomUUID();
    const wish = { name: 'Twice', scopes: ['media:read'] };
    const [first, second] = [await post('/keys', wish, key), await post('/keys', wish, key)];
    expect([first.status, second.status, first.json.key.id === second.json.key.id]).toEqual([201, 201, false]);
    expect(await kept(key)).toEqual([]);
    expect(await platform.findInDatabase(second.json.token.slice(-43))).toEqual([]);
  });

  it('compares the parts of a form, regardless of the boundary', async () => {
    const picture = await sharp({ create: { width: 8, height: 6, channels: 3, background: '#c8285a' } })
      .png()
      .toBuffer();
    const path = `/api/v1/experiences/${id('holons', 'bread')}/logo`;
    const upload = (key: string, bytes: Buffer): Promise<Answer> => {
      const body = new FormData(); // each with a different boundary
      body.append('logo', new Blob([new Uint8Array(bytes)]), 'logo.png');
      return platform.call('POST', path, { token: ed, body, headers: { 'idempotency-key': key } });
    };
    const key = randomUUID();
    const first = await upload(key, picture);
    const blobs = await platform.sql('select id from media.blobs');
    const second = await upload(key, picture);
    expect([first.status, second.status, isReplayed(second), second.json]).toEqual([200, 200, true, first.json]);
    expect(await platform.sql('select id from media.blobs')).toEqual(blobs);
    const other = await upload(key, Buffer.concat([picture, Buffer.from('more')]));
    expect([other.status, other.json.code]).toEqual([422, 'idempotency_key_reused']);
    const no = await upload(`${key}-no`, Buffer.from('no picture'));
    const still = await upload(`${key}-no`, Buffer.from('no picture'));
    expect([no.status, isReplayed(no), still.json, isReplayed(still)]).toEqual([400, false, no.json, true]);
  });

  it('forgets a key after one day', async () => {
    const key = randomUUID();
    await post('/people', { name: 'Of yesterday' }, key);
    await platform.sql(
      `update directory.kept_answers set expires_at = expires_at - interval '24 hours' where key = $1`,
      [key],
    );
    const next = await post('/people', { name: 'Of today' }, key);
    expect([next.status, isReplayed(next)]).toEqual([201, false]);
    expect(isReplayed(await post('/people', { name: 'Of today' }, key))).toBe(true);
  });

  it('makes the retry of the client after a lost response safe', async () => {
    const keys: (string | null)[] = [];
    const lossy: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      keys.push(new Headers(init?.headers).get('idempotency-key'));
      if (keys.length > 1) return response;
      await response.text();
      throw new TypeError('the connection was reset');
    };
    const { createClient } = await import('../../clients/typescript/index.ts');
    const client = createClient({ baseUrl: platform.baseUrl, token: ed, fetch: lossy, retry: { firstDelayMs: 1 } });
    const { body, headers } = await client.createPerson({ body: { name: 'Made once' } });
    expect([body.person.name, headers.get('idempotent-replayed'), await countPeople('Made once')]).toEqual([
      'Made once',
      'true',
      1,
    ]);
    expect(new Set(keys).size).toBe(1);
  });
});

describe('If-Match of updates (I2, I4)', () => {
  const places = [
    ['holon', () => `/holons/${id('holons', 'summer')}/update`, (turn: number) => ({ name: `Summer ${turn}` })],
    [
      'membership',
      () => `/memberships/${id('memberships', 'hana-summer')}/update`,
      (turn: number) => ({ note: `Turn ${turn}`, follow_up_after: `2030-01-0${turn}` }),
    ],
    [
      'relationship',
      () => `/relationships/${id('relationships', 'both')}/update`,
      (turn: number) => ({ note: `Turn ${turn}`, follow_up_after: `2030-01-0${turn}` }),
    ],
  ] as const;

  it.each(places)('updates a %s only if it is unchanged since the caller read it', async (_name, path, update) => {
    const first = await post(path(), update(1));
    const seen = first.headers.get('etag') ?? '';
    expect(seen).toMatch(/^"[\w-]{43}"$/);
    const second = await post(path(), update(2), undefined, ed, { 'if-match': `"other", ${seen}` });
    expect([second.status, second.headers.get('etag') === seen]).toEqual([200, false]);
    for (const stale of [seen, `W/${second.headers.get('etag')}`, 'nonsense']) {
      const refused = await post(path(), update(3), undefined, ed, { 'if-match': stale });
      expect([refused.status, refused.json]).toEqual([
        412,
        { code: 'precondition_failed', message: expect.any(String), retryable: false },
      ]);
    }
    expect((await post(path(), update(4), undefined, ed, { 'if-match': '*' })).status).toBe(200);
  });

  it('accepts the ETag of a holon response in If-Match', async () => {
    const summer = `/holons/${id('holons', 'summer')}`;
    const { headers } = await platform.call('GET', `/api/v1${summer}`, { token: ed });
    const written = await post(`${summer}/update`, { name: 'As read' }, undefined, ed, {
      'if-match': headers.get('etag') ?? '',
    });
    const after = await platform.call('GET', `/api/v1${summer}`, { token: ed });
    expect([written.status, written.headers.get('etag')]).toEqual([200, after.headers.get('etag')]);
  });

  it('applies one of many concurrent updates with the same ETag', async () => {
    const [, path, update] = places[1];
    const seen = (await post(path(), update(1))).headers.get('etag') ?? '';
    const answers = await Promise.all(
      [2, 3, 4, 5].map((turn) => post(path(), update(turn), undefined, ed, { 'if-match': seen })),
    );
    expect(answers.map(({ status }) => status).toSorted((left, right) => left - right)).toEqual([200, 412, 412, 412]);
  });

  it('checks If-Match after 401, 422 and 404, and before 400', async () => {
    const stale = { 'if-match': '"stale"' };
    const path = `/memberships/${id('memberships', 'hana-summer')}/update`;
    const statuses = [
      await platform.call('POST', `/api/v1${path}`, { token: null, json: { note: 'x' }, headers: stale }),
      await post(path, { note: 5 }, undefined, ed, stale),
      await post('/memberships/999999/update', { note: 'x' }, undefined, ed, stale),
      await post(path, { note: ' ' }, undefined, ed, stale),
      await post(path, { note: ' ' }),
    ].map(({ status }) => status);
    expect(statuses).toEqual([401, 422, 404, 412, 400]);
  });

  it('replays an applied request even if its If-Match no longer matches', async () => {
    const [, path, update] = places[1];
    const [key, seen] = [randomUUID(), (await post(path(), update(6))).headers.get('etag') ?? ''];
    const first = await post(path(), update(7), key, ed, { 'if-match': seen });
    const again = await post(path(), update(7), key, ed, { 'if-match': seen });
    expect([first.status, again.status, isReplayed(again), again.text]).toEqual([200, 200, true, first.text]);
    expect(again.headers.get('etag')).toBe(first.headers.get('etag'));
  });
});
