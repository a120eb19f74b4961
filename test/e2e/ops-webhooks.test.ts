/** Inbound webhooks for operators: viewing and reprocessing (P4, P8). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { waitFor } from '#libs/product/testing';
import { startTestPlatform, type Answer, type TestPlatform } from './test-platform.ts';

const password = 'the right password';
let platform: TestPlatform;
let personId: number;
let tokens: Record<'viewer' | 'operator' | 'user', string>;

beforeAll(async () => {
  platform = await startTestPlatform(
    import.meta.url,
    { ALLOW_UNSIGNED_WEBHOOKS: 'true' },
    { services: ['conversations', 'directory', 'agents', 'api-gateway'] },
  );
  const account = (name: string, groups: string[]) => ({
    email: `${name}@example.org`,
    person: name,
    password,
    groups,
  });
  const { ids } = await platform.apply({
    people: ['ada', 'viewer', 'operator'].map((key) => ({ key, name: key })),
    accounts: [
      account('ada', ['coherence_users']),
      account('viewer', ['ops_viewers']),
      account('operator', ['ops_operators']),
    ],
  });
  personId = ids['people']?.['ada'] ?? 0;
  const login = (name: string): Promise<string> => platform.login(`${name}@example.org`, password);
  tokens = { user: await login('ada'), viewer: await login('viewer'), operator: await login('operator') };
});
afterAll(async () => {
  await platform.stop();
});

const get = (path: string, token: string | null = tokens.viewer): Promise<Answer> =>
  platform.call('GET', `/api/ops/webhooks${path}`, { token });
const list = async (query: Record<string, string> = {}): Promise<{ items: any[]; next: string | null }> => {
  const answer = await get(`?${new URLSearchParams(query).toString()}`);
  expect([answer.status, answer.text.slice(0, 300)]).toEqual([200, expect.any(String)]);
  return answer.json;
};
const replay = (json: unknown, token: string | null = tokens.operator): Promise<Answer> =>
  platform.call('POST', '/api/ops/webhooks/replay', { token, json });

/** Creates receipts directly, each with a body. */
async function receive(
  body: string | null,
  { outcome = 'applied', source = 'booking', at = 'now()', count = 1 } = {},
): Promise<number[]> {
  const rows = await platform.sql<{ id: number }>(
    `insert into conversations.webhook_receipts (source, dedupe_key, delivery_id, received_at, person_id, headers, body, outcome)
     select $1, gen_random_uuid()::text, 'x', ${at}, $2, '{"x-cal-signature-256": "0f0f", "content-type": "application/json"}', $3, $4
     from generate_series(1, $5::integer) returning id`,
    [source, String(personId), body === null ? null : Buffer.from(body), outcome, count],
  );
  return rows.map(({ id }) => id);
}
async function receiveUpdate(body: string, outcome = 'answered'): Promise<number> {
  const [row] = await platform.sql<{ id: number }>(
    `insert into agents.webhook_receipts (dedupe_key, delivery_id, received_at, stream_sequence, agent_slug, body, outcome, kind)
     values (gen_random_uuid()::text, 'x', now(), 1, 'nobody', $1, $2, 'message') returning id`,
    [Buffer.from(body), outcome],
  );
  return Number(row?.id);
}

describe('GET /api/ops/webhooks (P4)', () => {
  it('lists webhooks of all services in one order, page by page, each once, while new ones are received', async () => {
    const made: number[] = [];
    for (let turn = 0; turn < 5; turn++)
      made.push(...(await receive('{"in": "one order"}')), await receiveUpdate('{"in": "one order"}'));
    const told: number[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: { items: any[]; next: string | null } = await list({
        q: 'one order',
        limit: '3',
        ...(cursor === '' ? {} : { cursor }),
      });
      told.push(...page.items.map(({ id }) => id));
      cursor = page.next;
      await receive('{"in": "one order"}');
    }
    expect(told).toEqual(made.toReversed());
  });

  it('filters webhooks by kind, outcome, person, time and text in any script', async () => {
    const body =
      '{"triggerEvent":"BOOKING_CREATED","payload":{"uid":"Uid-4711%_\\\\x","title":"Gr\\u00fc\\u00dfe","note":"sprach über \\"100 %\\""}}';
    const [id] = await receive(body, { outcome: 'stale', source: 'meeting', at: "'2026-01-02T03:04:05Z'" });
    const found = async (query: Record<string, string>): Promise<number[]> =>
      (await list({ kind: 'meeting', ...query })).items.map((item) => item.id);
    for (const query of [
      {},
      { outcome: 'stale' },
      { person_id: String(personId) },
      { from: '2026-01-02T03:04:05Z', to: '2026-01-02T03:04:05.000001Z' },
      { q: 'uid-4711' },
      { q: 'BOOKING_CREATED' },
      { q: '%_\\' },
      { q: 'Grüße' },
      { q: 'sprach über' },
      { q: '"100 %"' },
      { q: 'Uid-4711', person_id: String(personId), outcome: 'stale' },
    ] as Record<string, string>[])
      expect([query, await found(query)]).toEqual([query, [id]]);
    for (const query of [
      { outcome: 'applied' },
      { person_id: String(personId + 1) },
      { to: '2026-01-02T03:04:05Z' },
      { q: '4711_%' },
      { q: 'grusse' },
      { q: 'Uid-4711', outcome: 'applied' },
    ] as Record<string, string>[])
      expect([query, await found(query)]).toEqual([query, []]);
    const { items } = await list({ kind: 'meeting' });
    expect(items).toMatchObject([
      {
        id,
        kind: 'meeting',
        outcome: 'stale',
        person_id: personId,
        agent_slug: null,
        received_at: '2026-01-02T03:04:05Z',
      },
    ]);
    expect((await list({ kind: 'telegram', person_id: String(personId) })).items).toEqual([]);
  });

  it('filters webhooks by text and person in the admin CLI, and prints no secrets', async () => {
    const [id = 0] = await receive('{"uid": "Sought-1", "token": "hidden-4711"}', { outcome: 'stale' });
    const update = await receiveUpdate('{"text": "sought-1"}');
    const ids = async (...options: string[]): Promise<number[]> =>
      (await platform.ask('webhooks', 'list', ...options)).map((item: { id: number }) => item.id);
    expect((await ids('--text', 'SOUGHT-1')).toSorted((one, other) => one - other)).toEqual([id, update]);
    expect(await ids('--text', 'sought-1', '--person', String(personId))).toEqual([id]);
    expect(await ids('--text', 'sought-1', '--person', String(personId + 1))).toEqual([]);
    expect(await ids('--text', 'sought_1')).toEqual([]);
    expect(
      await platform.ask('webhooks', 'replay', '--text', 'sought-1', '--person', String(personId), '--dry-run'),
    ).toMatchObject({
      matched: 1,
      replayed: 1,
    });
    expect(await ids('--text', 'hidden-4711')).toEqual([]);
    expect(await platform.ask('webhooks', 'replay', '--text', 'hidden-4711', '--dry-run')).toMatchObject({
      matched: 0,
      replayed: 0,
    });
    const shown = await platform.ask('webhooks', 'show', String(id));
    expect([shown.body, shown.headers['x-cal-signature-256']]).toEqual([
      '{"uid":"Sought-1","token":"[redacted]"}',
      '[redacted]',
    ]);
    await platform.sql('delete from conversations.webhook_receipts where id = $1', [id]);
    await platform.sql('delete from agents.webhook_receipts where id = $1', [update]);
  });

  it('rejects a search text that is too short, an invalid cursor and a cursor of another list (P8)', async () => {
    expect((await get('?q=ab')).status).toBe(422);
    expect((await get('?kind=letter')).status).toBe(422);
    const jobs = Buffer.from(
      JSON.stringify(['jobs', '2026-01-02T03:04:05.000000Z 0000000000000001', 'webhooks']),
    ).toString('base64url');
    const noTime = Buffer.from(
      JSON.stringify(['webhooks', '2026-99-02T03:04:05.000000Z 0000000000000001', 'webhooks']),
    ).toString('base64url');
    for (const cursor of ['x', jobs, noTime])
      expect((await get(`?cursor=${cursor}`)).json).toMatchObject({ code: 'bad_cursor' });
  });
});

describe('search in redacted webhooks (P4)', () => {
  it('does not find redacted text in lists and replays, and finds the text beside it', async () => {
    const [id] = await receive('{"uid": "beside-1", "api_token": "hidden-4711", "note": "hidden-4712"}');
    const update = await receiveUpdate('{"text": "beside-1", "secret": "hidden-4711"}', 'failed');
    const found = async (q: string): Promise<unknown[]> => {
      const { items, next } = await list({ q, limit: '1' });
      return [...items.map((item: { id: number }) => item.id), next === null];
    };
    for (const guess of ['hidden-4711', 'hidden-471', '"api_token": "h', 'den-4711"']) {
      expect([guess, await found(guess)]).toEqual([guess, guess === 'hidden-471' ? [id, true] : [true]]);
      const counted = (await replay({ filter: { q: guess }, dry_run: true })).json;
      expect([guess, counted.matched, counted.without_body]).toEqual([guess, guess === 'hidden-471' ? 1 : 0, 0]);
    }
    expect(await found('hidden-4712')).toEqual([id, true]);
    expect((await list({ q: 'BESIDE-1' })).items.map((item: { id: number }) => item.id)).toEqual([update, id]);
    await platform.sql('delete from conversations.webhook_receipts where id = $1', [id]);
    await platform.sql('delete from agents.webhook_receipts where id = $1', [update]);
  });

  it('lists matching webhooks that sort after webhooks with a match only in redacted text', async () => {
    const [shown] = await receive('{"note": "sought-99"}');
    for (let count = 0; count < 3; count++) await receive('{"secret": "sought-99"}');
    const { items, next } = await list({ q: 'sought-99', limit: '1' });
    expect([items.map((item: { id: number }) => item.id), next]).toEqual([[shown], null]);
    await platform.sql(
      `delete from conversations.webhook_receipts where convert_from(body, 'UTF8') like '%sought-99%'`,
    );
  });
});

describe('GET /api/ops/webhooks/{receipt_id} (P4)', () => {
  it('returns body and headers of a webhook as received', async () => {
    const [id] = await receive('{ "payload" : {"uid": "a"} }');
    const { status, json } = await get(`/${id}`);
    expect([status, json.body, json.headers]).toEqual([
      200,
      '{ "payload" : {"uid": "a"} }',
      { 'x-cal-signature-256': '[redacted]', 'content-type': 'application/json' },
    ]);
    const update = await receiveUpdate('{"update_id": 1}');
    expect((await get(`/${update}`)).json).toMatchObject({
      id: update,
      kind: 'telegram',
      agent_slug: 'nobody',
      headers: {},
      body: '{"update_id": 1}',
    });
  });

  it('returns the headers that identify the sender of a webhook, and never its secret', async () => {
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'curl/8.14.1',
      cookie: 'session=hush-hush-hush',
      'x-telegram-bot-api-secret-token': 'hush-hush-hush',
    };
    const hook = { token: null, json: { update_id: 1 }, headers };
    expect((await platform.call('POST', '/api/hook/agents/unheard-of', hook)).status).toBe(200);
    const { id } = await waitFor(async () => (await list({ kind: 'telegram', outcome: 'agent_not_found' })).items[0]);
    const kept = { 'content-type': 'application/json', 'user-agent': 'curl/8.14.1' };
    expect((await get(`/${id}`)).json.headers).toEqual(kept);
    expect((await platform.ask('webhooks', 'show', String(id))).headers).toEqual(kept);
    expect(await platform.findInDatabase('hush-hush-hush')).toEqual([]);
  });

  it('redacts secrets in webhook bodies of any format', async () => {
    const token = 'svc_agentic_k3v8q0w5n1x7c2m9b4h6j8l0p2r4t6y8_Tq7Zc1Xn5Vb9Mk3Lp0Jh6Gf2Ds8Aq4We7Rt1Yu5I';
    const [json, form] = [
      await receive(`{"n": 12345678901234567890, "api_key": "k-1", "text": "${token}"}`),
      await receive(`a=b&token=k-1`),
    ];
    expect((await get(`/${json[0]}`)).json.body).toBe(
      '{"n":12345678901234567890,"api_key":"[redacted]","text":"[redacted]"}',
    );
    expect((await get(`/${form[0]}`)).json.body).toBe('a=b&token=[redacted]');
  });

  it('returns 404 for an unknown receipt and 422 for an invalid receipt id', async () => {
    for (const id of ['999999', '1999999999', '9007199254740991'])
      expect([id, (await get(`/${id}`)).json]).toEqual([
        id,
        { code: 'not_found', message: 'The webhook does not exist.', retryable: false },
      ]);
    for (const id of ['x', '1.5']) expect([id, (await get(`/${id}`)).status]).toEqual([id, 422]);
    for (const id of ['0', '-1']) expect([id, (await get(`/${id}`)).status]).toEqual([id, 404]);
  });
});

describe('POST /api/ops/webhooks/replay (P4)', () => {
  it('processes webhooks with a stored body again, changes nothing for others, and counts with dry_run', async () => {
    const [kept = 0] = await receive('{"to be": "replayed"}', { outcome: 'person_not_found' });
    const [gone = 0] = await receive(null, { outcome: 'rejected_signature' });
    const ids = [kept, kept, gone, 999_999, 1_999_999_999];
    expect((await replay({ ids, dry_run: true })).json).toMatchObject({
      matched: 1,
      changed: 0,
      failed: 2,
      without_body: 1,
      more: false,
    });
    const { status, json } = await replay({ ids });
    expect([status, json]).toEqual([
      200,
      {
        selected: 2,
        matched: 1,
        changed: 1,
        failed: 2,
        without_body: 1,
        nothing_left: 0,
        no_agent: 0,
        more: false,
        items: [expect.objectContaining({ id: kept })],
        job_ids: [expect.any(String)],
        missing: [],
      },
    ]);
    await waitFor(async () => (await get(`/${kept}`)).json.processed_at !== null);
    expect((await get(`/${gone}`)).json.processed_at).toBeNull();
    expect((await replay({ filter: { q: 'to be": "replayed' }, dry_run: true })).json).toMatchObject({ failed: 0 });
  });

  it('processes ten thousand webhooks again with one request and one audit entry (A4)', async () => {
    await receive('{"ten": "thousand"}', { outcome: 'journey_error', count: 10_000 });
    const { status, json } = await replay({ filter: { outcome: 'journey_error', q: '"ten": "thousand"' } });
    expect([status, json]).toEqual([
      200,
      expect.objectContaining({ matched: 10_000, changed: 10_000, failed: 0, more: false }),
    ]);
    expect(json.items).toHaveLength(100);
    const entries = await platform.sql<{ changes: string }>(
      `select changes::text from conversations.audit_log where action = 'webhook.replay' and actor_kind = 'account' order by id desc limit 2`,
    );
    expect(entries.map(({ changes }) => JSON.parse(changes))).toMatchObject([
      { filter: { outcome: 'journey_error', q: { length: 17 } }, matched: 10_000, changed: 10_000, failed: 0 },
      { ids: expect.arrayContaining([expect.any(Number)]), matched: 1, changed: 1, failed: 1 },
    ]);
  });

  it('changes nothing for an answered message, and reports a message whose agent does not exist', async () => {
    const [answered, lost] = [
      await receiveUpdate('{"update_id": 7, "message": {}}'),
      await receiveUpdate('{"update_id": 8, "message": {}}', 'failed'),
    ];
    expect((await replay({ ids: [answered] })).json).toMatchObject({ matched: 0, changed: 0, nothing_left: 1 });
    expect((await replay({ ids: [lost] })).json).toMatchObject({ matched: 1, changed: 0, failed: 1, no_agent: 1 });
  });

  it('applies a limit to bookings and meetings first, then to messages', async () => {
    await receiveUpdate('{"limited": 1}', 'failed');
    await receive('{"limited": 2}', { count: 2 });
    const counts = async (limit: number) => {
      const { selected, more } = (await replay({ filter: { q: 'limited' }, limit, dry_run: true })).json;
      return [selected, more];
    };
    expect([await counts(1), await counts(2), await counts(3)]).toEqual([
      [1, true],
      [2, true],
      [3, false],
    ]);
    expect((await replay({ filter: { q: 'limited' }, limit: 0 })).status).toBe(422);
  });

  it('replays one webhook in the admin CLI, and says why one cannot be replayed', async () => {
    const [kept = 0] = await receive('{"one": "more"}', { outcome: 'person_not_found' });
    const [gone] = await receive(null, { outcome: 'rejected_signature' });
    const lost = await receiveUpdate('{"update_id": 9, "message": {}}', 'failed');
    expect(await platform.ask('webhooks', 'replay', String(kept))).toEqual({ id: kept, job_id: expect.any(String) });
    const failure = async (id: number | undefined) => (await platform.cli('webhooks', 'replay', String(id))).stderr;
    expect(await failure(gone)).toContain('was not stored or was removed');
    expect(await failure(lost)).toContain('does not exist or has no webhook secret');
    expect(await failure(999_999)).toBe('There is no receipt 999999.\n');
    expect((await platform.cli('webhooks', 'show', '999999')).stderr).toBe('There is no receipt 999999.\n');
  });

  it.each([
    [{}],
    [{ filter: {} }],
    [{ filter: { q: null, kind: null } }],
    [{ filter: { text: 'x', limit: 1, cursor: 'x' } }],
    [{ ids: [] }],
  ])('rejects the replay request %j with 400 (P8)', async (body) => {
    expect(await replay(body)).toMatchObject({ status: 400, json: { code: 'empty_choice' } });
  });

  it('rejects invalid ids, non-boolean values and too many ids with 422, and accounts without operator rights with 403', async () => {
    for (const body of [
      { ids: ['x'] },
      { ids: [0] },
      { filter: { q: 'abc' }, dry_run: 1 },
      { ids: Array.from({ length: 10_001 }, (_item, index) => index + 1) },
    ])
      expect((await replay(body)).status).toBe(422);
    const body = { filter: { kind: 'booking' } };
    expect(await replay(body, tokens.viewer)).toMatchObject({ status: 403, json: { code: 'permission_denied' } });
    expect((await replay(body, tokens.user)).status).toBe(403);
    expect((await replay(body, platform.sharedToken)).status).toBe(401);
    expect((await get('', tokens.user)).status).toBe(403);
    expect((await get('/1', null)).status).toBe(401);
  });
});
