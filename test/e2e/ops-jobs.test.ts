/** Jobs of all services for operators: the API, the admin CLI, and rights (P2, P3, P8). */
import { randomUUIDv7 } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { waitFor } from '#libs/product/testing';
import { startTestPlatform, type Answer, type TestPlatform } from './test-platform.ts';

const password = 'the right password';
let platform: TestPlatform;
let tokens: Record<'viewer' | 'operator' | 'user', string>;

beforeAll(async () => {
  platform = await startTestPlatform(import.meta.url);
  const people = ['ada', 'viewer', 'operator'].map((key) => ({ key, name: key }));
  const account = (name: string, rights: object = {}) => ({
    email: `${name}@example.org`,
    person: name,
    password,
    ...rights,
  });
  await platform.apply({
    people,
    accounts: [
      account('ada', { groups: ['coherence_users'], global_editor: true }),
      account('viewer', { groups: ['ops_viewers'] }),
      account('operator', { groups: ['ops_operators'] }),
    ],
  });
  const login = (name: string): Promise<string> => platform.login(`${name}@example.org`, password);
  tokens = { user: await login('ada'), viewer: await login('viewer'), operator: await login('operator') };
});
afterAll(async () => {
  await platform.stop();
});

interface Item {
  readonly service: string;
  readonly id: string;
  readonly type: string;
  readonly state: string;
  readonly error: string | null;
}
interface Page {
  readonly items: Item[];
  readonly next: string | null;
}

const list = async (query: Record<string, string> = {}): Promise<Page> => {
  const answer = await platform.call('GET', `/api/ops/jobs?${new URLSearchParams(query).toString()}`, {
    token: tokens.viewer,
  });
  expect([answer.status, answer.text.slice(0, 300)]).toEqual([200, expect.any(String)]);
  return answer.json;
};
const act = (verb: 'redrive' | 'cancel', json: unknown, token: string | null = tokens.operator): Promise<Answer> =>
  platform.call('POST', `/api/ops/jobs/${verb}`, { token, json });
const show = (service: string, id: string): Promise<Answer> =>
  platform.call('GET', `/api/ops/jobs/${service}/${id}`, { token: tokens.viewer });

/** Creates a dead job; its payload is invalid, so every redrive fails again at once. */
async function makeDead(
  service: string,
  { type = `${service}.strange`, error = 'The store was away', payload = {}, count = 1 } = {},
) {
  const ids = Array.from({ length: count }, () => randomUUIDv7());
  await platform.sql(
    `insert into ${service}.jobs (id, type, payload, state, attempts, error, finished_at)
     select id, $2, $3::jsonb, 'dead', 3, $4, now() from unnest($1::uuid[]) as id`,
    [ids, type, JSON.stringify(payload), error],
  );
  return ids;
}
const statesOf = async (service: string, ids: readonly string[]): Promise<string[]> =>
  (await platform.sql<{ state: string }>(`select state from ${service}.jobs where id = any($1::uuid[])`, [ids])).map(
    ({ state }) => state,
  );

describe('GET /api/ops/jobs (P2)', () => {
  it('lists jobs of all services in one order, page by page, each once, while new jobs are created', async () => {
    const made: string[] = [];
    for (let turn = 0; turn < 4; turn++) {
      for (const service of ['agents', 'conversations', 'directory', 'events', 'media', 'transcripts'])
        made.push(...(await makeDead(service, { error: 'in one order' })));
    }
    const told: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: Page = await list({ error: 'in one order', limit: '3', ...(cursor === '' ? {} : { cursor }) });
      told.push(...page.items.map(({ id }) => id));
      cursor = page.next;
      await makeDead('directory', { error: 'in one order' });
    }
    expect(told).toEqual(made.toSorted().toReversed());
  });

  it('filters jobs by service, type, state, key, error, conversation, request and time', async () => {
    const [id = ''] = await makeDead('media', { error: 'Quota of 100% used_up', payload: { conversation_id: 4711 } });
    await platform.sql(`update media.jobs set key = 'a key', request_id = 'the request' where id = $1`, [id]);
    const at: string = (await show('media', id)).json.created_at;
    const found = async (query: Record<string, string>): Promise<string[]> =>
      (await list({ service: 'media', ...query })).items.map((item) => item.id);
    for (const query of [
      { key: 'a key' },
      { request_id: 'the request' },
      { conversation_id: '4711' },
      { error: '100% used_up' },
      { created_after: at, state: 'dead', type: 'media.strange' },
    ] as Record<string, string>[])
      expect([query, await found(query)]).toEqual([query, [id]]);
    expect(await found({ error: '100_ used' })).toEqual([]);
    expect(await found({ error: 'Quota', created_before: at })).toEqual([]);
    expect(await found({ error: 'Quota', state: 'queued' })).toEqual([]);
    expect((await list({ error: 'Quota', type: 'transcripts.strange' })).items).toEqual([]);
    const { items } = await list({ error: 'Quota' });
    expect(items).toMatchObject([
      { service: 'media', id, conversation_id: 4711, attempts: 3, finished_at: expect.any(String) },
    ]);
  });

  it('rejects a limit over 200, an invalid cursor and a cursor of another list (P8)', async () => {
    const ask = (query: string) => platform.call('GET', `/api/ops/jobs?${query}`, { token: tokens.viewer });
    expect((await ask('limit=201')).status).toBe(422);
    expect((await ask('limit=0')).status).toBe(422);
    expect((await ask('service=stranger')).status).toBe(422);
    const other = (await platform.call('GET', '/api/ops/audit?limit=1', { token: tokens.viewer })).json.next as string;
    const forged = (...parts: unknown[]) => Buffer.from(JSON.stringify(parts)).toString('base64url');
    const long = 'A'.repeat(5_000);
    for (const cursor of [
      'x',
      other,
      forged('jobs', '1', 'media'),
      forged('jobs', randomUUIDv7(), 'stranger'),
      '&',
      long,
    ])
      expect([cursor, (await ask(`cursor=${cursor}`)).json]).toEqual([
        cursor,
        expect.objectContaining({ code: 'bad_cursor' }),
      ]);
    for (const list of ['audit', 'webhooks', 'pipelines', 'threads', 'agents']) {
      const answer = await platform.call('GET', `/api/ops/${list}?cursor=${long}`, { token: tokens.viewer });
      expect([list, answer.status, answer.json.code]).toEqual([list, 400, 'bad_cursor']);
    }
  });

  it.each(['0', '-1', '2147483648', '99999999999999999999'])(
    'returns no jobs for the unknown id %s (D98)',
    async (id) => {
      for (const query of [
        `jobs?conversation_id=${id}`,
        `pipelines?conversation_id=${id}`,
        `webhooks?person_id=${id}`,
        `audit?actor=${id.replace('-', '')}`,
      ]) {
        const { status, json } = await platform.call('GET', `/api/ops/${query}`, { token: tokens.viewer });
        expect([query, status, json.items]).toEqual([
          query,
          200,
          id === '-1' && query.startsWith('audit') ? expect.anything() : [],
        ]);
      }
    },
  );
});

describe('GET /api/ops/jobs/{service}/{job_id} (P2)', () => {
  it('returns payload, result and every attempt of a job, including attempts before a redrive', async () => {
    const [id = ''] = await makeDead('media', { type: 'media.delete-blob', payload: { blob_id: 'no number' } });
    for (const _ of [1, 2]) {
      expect((await act('redrive', { ids: [{ service: 'media', id }] })).json).toMatchObject({
        matched: 1,
        changed: 1,
        failed: 0,
      });
      await waitFor(async () => (await statesOf('media', [id]))[0] === 'dead');
    }
    const { status, json } = await show('media', id);
    const attempt = { started_at: expect.any(String), duration_ms: expect.any(Number), worker: expect.any(String) };
    const error = expect.stringContaining('breaks its declaration');
    expect([status, json]).toEqual([
      200,
      expect.objectContaining({
        service: 'media',
        id,
        state: 'dead',
        payload: { blob_id: 'no number' },
        result: null,
        attempts: expect.any(Array),
      }),
    ]);
    expect(json.attempts).toEqual([
      { ...attempt, error },
      { ...attempt, error },
    ]);
    expect(json.attempts[0].started_at < json.attempts[1].started_at).toBe(true);
  });

  it('redacts secrets in payloads and results, and nothing else', async () => {
    const token = 'svc_agentic_k3v8q0w5n1x7c2m9b4h6j8l0p2r4t6y8_Tq7Zc1Xn5Vb9Mk3Lp0Jh6Gf2Ds8Aq4We7Rt1Yu5I';
    const [id = ''] = await makeDead('media', {
      payload: {
        blob_id: 7,
        token,
        deep: [{ videohost_refresh_token: 'r-1' }],
        note: `with ${token}`,
        url: 'https://u:pw@example.org/?sig=abc',
      },
    });
    const { text, json } = await show('media', id);
    for (const secret of [token, 'r-1', 'pw@', 'abc']) expect(text).not.toContain(secret);
    expect(json.payload).toEqual({
      blob_id: 7,
      token: '[redacted]',
      deep: [{ videohost_refresh_token: '[redacted]' }],
      note: 'with [redacted]',
      url: 'https://[redacted]@example.org/?sig=[redacted]',
    });
  });

  it.each([
    ['GET', 'webhooks/ID', 'The webhook does not exist.'],
    ['GET', 'threads/ID', 'The thread does not exist.'],
    ['POST', 'threads/ID/take', 'The thread does not exist.'],
    ['POST', 'threads/ID/message', 'The thread does not exist.'],
    ['POST', 'threads/ID/hand-back', 'The thread does not exist.'],
    ['POST', 'pipelines/ID/retry', 'The conversation does not exist.'],
  ])(
    '%s /api/ops/%s returns 404 with the missing object, also for an id out of range (D94)',
    async (method, path, message) => {
      for (const id of ['0', '-1', '2147483647', '2147483648', '9007199254740991', '99999999999999999999']) {
        const json = path.endsWith('message') ? { body: 'Hello' } : {};
        const answer = await platform.call(method, `/api/ops/${path.replace('ID', id)}`, {
          token: tokens.operator,
          ...(method === 'POST' && { json }),
        });
        expect([id, answer.status, answer.json]).toEqual([id, 404, { code: 'not_found', message, retryable: false }]);
      }
    },
  );

  it('returns 304 while the job is unchanged, and 200 after a change (rules/http#etag)', async () => {
    const [id = ''] = await makeDead('media');
    const read = (etag: string): Promise<Answer> =>
      platform.call('GET', `/api/ops/jobs/media/${id}`, { token: tokens.viewer, headers: { 'if-none-match': etag } });
    const etag = (await show('media', id)).headers.get('etag') ?? '';
    const known = await read(etag);
    expect([known.status, known.text]).toEqual([304, '']);
    await platform.sql(`update media.jobs set error = 'Another one' where id = $1`, [id]);
    expect((await read(etag)).status).toBe(200);
  });

  it('returns 404 for an unknown job (D94)', async () => {
    const id = randomUUIDv7();
    for (const [service, name] of [
      ['media', id],
      ['stranger', id],
      ['media', '1'],
      ['constructor', id],
      ['media', "'; drop"],
    ] as const)
      expect([service, name, (await show(service, encodeURIComponent(name))).json]).toEqual([
        service,
        name,
        { code: 'not_found', message: 'The job does not exist.', retryable: false },
      ]);
  });
});

describe('POST /api/ops/jobs/redrive and …/cancel (P3)', () => {
  it('count jobs with dry_run, then change each job once: a second run changes nothing', async () => {
    const ids = await makeDead('media', { error: 'of three', count: 3 });
    await makeDead('directory', { error: 'of three' });
    const filter = { error: 'of three', state: 'dead' };
    const dry = await act('redrive', { filter, dry_run: true });
    expect([dry.status, dry.json]).toEqual([200, expect.objectContaining({ matched: 4, changed: 0, failed: 0 })]);
    expect(new Set(await statesOf('media', ids))).toEqual(new Set(['dead']));
    const [first, second] = await Promise.all([act('redrive', { filter }), act('redrive', { filter })]);
    expect([first.status, second.status]).toEqual([200, 200]);
    // Concurrent redrives may each redrive some of the four jobs.
    expect(first.json.changed + second.json.changed).toBe(4);
    expect((await act('redrive', { filter })).json).toMatchObject({ matched: 0, changed: 0, failed: 0, items: [] });
  });

  it('redrive ten thousand dead jobs with one request', async () => {
    await makeDead('transcripts', { error: 'ten thousand', count: 10_000 });
    const answer = await act('redrive', { filter: { error: 'ten thousand' } });
    expect([answer.status, answer.json]).toEqual([
      200,
      expect.objectContaining({ matched: 10_000, changed: 10_000, failed: 0 }),
    ]);
    expect(answer.json.items).toHaveLength(100);
    expect(answer.json.items[0]).toMatchObject({ service: 'transcripts', state: 'queued', error: 'ten thousand' });
    // Jobs that were run in between are dead again.
    const { matched, changed, failed } = (await act('cancel', { filter: { error: 'ten thousand' } })).json;
    expect(changed + failed).toBe(matched);
  });

  it('cancel ten thousand waiting jobs with one request', async () => {
    await makeDead('transcripts', { error: 'as many that wait', count: 10_000 });
    await platform.sql(
      `update transcripts.jobs set state = 'queued', finished_at = null, run_at = now() + interval '1 day' where error = 'as many that wait'`,
    );
    const cancel = () => act('cancel', { filter: { error: 'as many that wait' } });
    expect((await cancel()).json).toMatchObject({ matched: 10_000, changed: 10_000, failed: 0 });
    expect((await cancel()).json).toMatchObject({ matched: 0, changed: 0, failed: 0 });
  });

  it('cancel waiting jobs by filter and dead jobs only by id, and can queue a cancelled job again by id', async () => {
    const [dead = '', other = ''] = await makeDead('directory', { error: 'to be cancelled', count: 2 });
    const [waiting = ''] = await makeDead('directory', { error: 'to be cancelled' });
    await platform.sql(
      `update directory.jobs set state = 'queued', finished_at = null, run_at = now() + interval '1 day' where id = $1`,
      [waiting],
    );
    expect((await act('cancel', { filter: { error: 'to be cancelled' } })).json).toMatchObject({
      matched: 1,
      changed: 1,
    });
    expect((await act('cancel', { ids: [{ service: 'directory', id: dead }] })).json).toMatchObject({ changed: 1 });
    expect((await act('cancel', { filter: { error: 'to be cancelled', state: 'dead' } })).json).toMatchObject({
      changed: 1,
    });
    expect(new Set(await statesOf('directory', [dead, other, waiting]))).toEqual(new Set(['cancelled']));
    expect((await act('redrive', { filter: { error: 'to be cancelled' } })).json).toMatchObject({
      matched: 0,
      changed: 0,
    });
    expect((await act('redrive', { filter: { error: 'to be cancelled', state: 'cancelled' } })).json).toMatchObject({
      matched: 0,
    });
    expect((await act('redrive', { ids: [{ service: 'directory', id: dead }] })).json).toMatchObject({
      matched: 1,
      changed: 1,
    });
  });

  it('count each unknown job id once as failed', async () => {
    const [id = ''] = await makeDead('media');
    const strange = [
      { service: 'media', id: randomUUIDv7() },
      { service: 'stranger', id },
      { service: 'media', id: 'no id' },
      { service: 'constructor', id },
    ];
    const ids = [{ service: 'media', id }, { service: 'media', id }, ...strange, ...strange];
    expect((await act('redrive', { ids })).json).toMatchObject({ matched: 1, changed: 1, failed: 4 });
  });

  it.each([
    ['nothing', {}],
    ['an empty filter', { filter: {} }],
    ['a filter of nulls', { filter: { error: null, state: null, conversation_id: null } }],
    ['a filter of unknown fields', { filter: { stat: 'dead', everything: true } }],
    ['a page', { filter: { limit: 5, cursor: 'x' } }],
    ['no ids', { ids: [] }],
    ['ids and a filter', { ids: [{ service: 'media', id: randomUUIDv7() }], filter: { state: 'dead' } }],
  ])('reject %s with 400 and change no job (P8)', async (_name, body) => {
    const ids = await makeDead('media', { error: 'nobody means this' });
    for (const verb of ['redrive', 'cancel'] as const)
      expect([verb, (await act(verb, body)).status, (await act(verb, body)).json.code]).toEqual([
        verb,
        400,
        'empty_choice',
      ]);
    expect(await statesOf('media', ids)).toEqual(['dead']);
  });

  it.each([
    ['a dry_run that is no boolean', { filter: { state: 'dead' }, dry_run: 'true' }],
    ['a dry_run of null', { filter: { state: 'dead' }, dry_run: null }],
    ['an unknown state', { filter: { state: 'undead' } }],
    ['a list as a filter', { filter: [] }],
    [
      'too many ids',
      { ids: Array.from({ length: 10_001 }, (_item, index) => ({ service: 'media', id: String(index) })) },
    ],
  ])('reject job actions with %s with 422', async (_name, body) => {
    expect((await act('redrive', body)).status).toBe(422);
  });

  it('write one audit entry with filter and counts, and no entry for a dry run (A1, A4, D99)', async () => {
    const [id = ''] = await makeDead('media', { error: 'seen by the auditor' });
    const filter = { error: 'seen by the auditor', service: 'media' };
    await act('redrive', { filter, dry_run: true });
    await act('redrive', { filter });
    await act('cancel', { ids: [{ service: 'media', id }] });
    const entries = async (action: string) =>
      (
        await platform.call('GET', `/api/ops/audit?action=${action}&actor=operator@example.org&limit=200`, {
          token: tokens.viewer,
        })
      ).json.items;
    expect((await entries('jobs.cancel'))[0]).toMatchObject({
      changes: { ids: [id], matched: 1, changed: 1, failed: 0 },
      target: null,
    });
    const told = (await entries('jobs.redrive')).filter(
      (item: any) => item.changes?.filter?.error?.length === filter.error.length,
    );
    expect(JSON.stringify(await entries('jobs.redrive'))).not.toContain(filter.error);
    expect(told).toMatchObject([
      {
        changes: { filter: { error: { length: 19 } }, matched: 1, changed: 1, failed: 0 },
        target: null,
        actor: { kind: 'account' },
      },
    ]);
  });
});

describe('permissions of job operations (P2, P3; rules/access#operators)', () => {
  it('allows viewers to read jobs, operators to change them, and neither to other accounts or without an account', async () => {
    const [id = ''] = await makeDead('media');
    const body = { ids: [{ service: 'media', id }] };
    expect(await act('redrive', body, tokens.viewer)).toMatchObject({
      status: 403,
      json: { code: 'permission_denied' },
    });
    expect(await act('cancel', body, tokens.user)).toMatchObject({ status: 403, json: { code: 'permission_denied' } });
    expect((await act('redrive', body, null)).status).toBe(401);
    expect((await act('redrive', body, platform.sharedToken)).status).toBe(401);
    for (const path of ['/api/ops/jobs', `/api/ops/jobs/media/${id}`]) {
      expect((await platform.call('GET', path, { token: tokens.operator })).status).toBe(200);
      expect((await platform.call('GET', path, { token: tokens.user })).status).toBe(403);
      expect((await platform.call('GET', path, { token: null })).status).toBe(401);
    }
    expect(await statesOf('media', [id])).toEqual(['dead']);
  });
});

describe('admin CLI: jobs (P3)', () => {
  it('redrives, discards and cancels jobs with the same filters, and counts them with --dry-run', async () => {
    await makeDead('directory', { error: 'by the CLI', payload: { conversation_id: 99 }, count: 2 });
    const filter = ['--error', 'by the CLI', '--conversation', '99'];
    expect(await platform.ask('jobs', 'redrive', ...filter, '--dry-run')).toEqual({ redriven: 2, dry_run: true });
    expect(await platform.ask('jobs', 'redrive', ...filter)).toEqual({ redriven: 2 });
    expect(await platform.ask('jobs', 'cancel', ...filter)).toEqual({ cancelled: 2 });
    expect(await platform.ask('jobs', 'list', ...filter, '--state', 'cancelled')).toHaveLength(2);
    await expect(platform.ask('jobs', 'cancel')).rejects.toThrow('Specify a job id or a filter.');
  });
});
