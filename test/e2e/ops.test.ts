/** Platform status and stuck conversations for operators (P1, P5): the API and the admin CLI. */
import { randomUUIDv7 } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestPlatform, type TestPlatform } from './test-platform.ts';

const password = 'the right password';
let platform: TestPlatform;
let tokens: Record<'viewer' | 'operator' | 'user', string>;

beforeAll(async () => {
  platform = await startTestPlatform(import.meta.url);
  const account = (name: string, groups: string[]) => ({
    email: `${name}@example.org`,
    person: name,
    password,
    groups,
  });
  await platform.apply({
    people: ['ada', 'viewer', 'operator'].map((key) => ({ key, name: key })),
    accounts: [
      account('ada', ['coherence_users']),
      account('viewer', ['ops_viewers']),
      account('operator', ['ops_operators']),
    ],
  });
  const login = (name: string): Promise<string> => platform.login(`${name}@example.org`, password);
  tokens = { user: await login('ada'), viewer: await login('viewer'), operator: await login('operator') };
});
afterAll(async () => {
  await platform.stop();
});

const get = (path: string, token: string | null = tokens.viewer) => platform.call('GET', path, { token });
const names = (items: { name: string }[]): string[] => items.map(({ name }) => name);

describe('GET /api/ops/overview (P1)', () => {
  it('returns services, dependencies, jobs, streams, spool and refused logins', async () => {
    await platform.call('POST', '/api/v1/auth/login', {
      token: null,
      headers: { 'x-svc-api-key': platform.loginSecret },
      json: { email: 'nobody@example.org', password: 'wrong' },
    });
    await platform.sql(`insert into media.jobs (id, type, payload, state, error, finished_at, created_at)
      select gen_random_uuid(), 'media.strange', '{}', 'dead', 'x', now(), '2026-01-02T03:04:05Z' from generate_series(1, 3)`);
    const { status, json } = await get('/api/ops/overview');
    expect(status).toBe(200);
    expect(names(json.services).toSorted()).toEqual([
      'agents',
      'api-gateway',
      'conversations',
      'directory',
      'events',
      'media',
      'transcripts',
    ]);
    for (const service of json.services)
      expect(service).toEqual({
        name: service.name,
        ready: true,
        version: json.version,
        uptime_seconds: expect.any(Number),
        missing: [],
      });
    expect(names(json.dependencies)).toEqual(expect.arrayContaining(['nats', 'postgresql']));
    expect(json.dependencies.every((item: any) => item.ready && item.detail === null)).toBe(true);
    expect(json.jobs).toContainEqual({
      service: 'media',
      type: 'media.strange',
      state: 'dead',
      count: 3,
      oldest_at: '2026-01-02T03:04:05Z',
    });
    expect(names(json.streams)).toEqual(['JOBS', 'EVENTS', 'FEED', 'WEBHOOKS']);
    expect(json.streams[0].consumers).toContainEqual({ name: 'media_delete-blob', pending: 0, lag: 0 });
    expect(json.spool).toEqual({ entries: 0, bytes: 0 });
    expect(json.logins.failed_last_hour).toBe(1);
  });

  it('allows only viewers and operators to read the overview', async () => {
    expect((await get('/api/ops/overview', tokens.operator)).status).toBe(200);
    expect((await get('/api/ops/overview', tokens.user)).json.code).toBe('permission_denied');
    expect((await get('/api/ops/overview', platform.sharedToken)).status).toBe(401);
  });

  it('prints the overview in the admin CLI', async () => {
    const told = await platform.ask('overview');
    expect(names(told.services).toSorted()).toEqual([
      'agents',
      'api-gateway',
      'conversations',
      'directory',
      'events',
      'media',
      'transcripts',
    ]);
    expect(told.jobs).toContainEqual(expect.objectContaining({ type: 'media.strange', count: 3 }));
    expect(told.logins).toEqual({ failed_last_hour: 1 });
    const { json } = await get('/api/ops/overview');
    expect(Object.keys(told).toSorted()).toEqual(Object.keys(json).toSorted());
    expect([told.version, told.spool, names(told.dependencies)]).toEqual([
      json.version,
      json.spool,
      names(json.dependencies),
    ]);
    expect(told.dependencies.map(({ name, ready }: any) => [name, ready])).toContainEqual(['postgresql', true]);
    expect(names(told.streams)).toEqual(names(json.streams));
  });
});

describe('pipelines (P5, P8)', () => {
  interface Placed {
    readonly id: number;
    readonly job: string | undefined;
  }
  let placed: Record<'waiting' | 'dead' | 'jobless' | 'elsewhere', Placed>;

  /** Creates a conversation in a step, with its pipeline job, as if the conversation had entered the step. */
  async function place({ step, job }: { step: 'import' | 'held'; job?: string }): Promise<Placed> {
    const steps = await platform.sql<{ id: number; journey_id: number; slug: string }>(
      `select s.id, s.journey_id, s.slug from directory.journey_steps s join directory.journeys j on j.id = s.journey_id where j.slug = 'circle'`,
    );
    const current = steps.find(({ slug }) => slug === step);
    const entered = steps.find(({ slug }) => slug === 'import');
    const [row] = await platform.sql<{ id: number }>(
      'insert into conversations.all_conversations (journey_id, step_id) values ($1, $2) returning id',
      [current?.journey_id, current?.id],
    );
    const id = row?.id ?? 0;
    await platform.sql(
      `insert into conversations.pipeline_entries (conversation_id, step_id, pipeline_job, cause) values ($1, $2, 'transcript_import', 'recorded')`,
      [id, entered?.id],
    );
    if (job === undefined) return { id, job };
    const [made] = await platform.sql<{ id: string }>(job, [
      randomUUIDv7(),
      JSON.stringify({ conversation_id: id, step_id: entered?.id, cause: 'step_entered' }),
    ]);
    return { id, job: made?.id };
  }
  const insert = `insert into transcripts.jobs (id, type, payload, state, error, attempts, run_at, finished_at)`;

  beforeAll(async () => {
    await platform.apply({
      journeys: [
        {
          slug: 'circle',
          name: 'Circle',
          is_conversation: true,
          steps: [
            { slug: 'held', title: 'Held' },
            { slug: 'import', title: 'Import', pipeline_job: 'transcript_import' },
          ],
        },
      ],
    });
    placed = {
      waiting: await place({
        step: 'import',
        job: `${insert} values ($1, 'transcripts.transcript-import', $2, 'queued', 'The transcript is not there yet', 0, now() + interval '1 day', null) returning id`,
      }),
      dead: await place({
        step: 'import',
        job: `${insert} values ($1, 'transcripts.transcript-import', $2, 'dead', 'The window is missing', 3, now(), now()) returning id`,
      }),
      jobless: await place({ step: 'import' }),
      elsewhere: await place({ step: 'held' }),
    };
    await platform.sql(
      `insert into transcripts.job_attempts (job_id, started_at, duration_ms, error, waits) values ($1, now(), 5, 'The transcript is not there yet', true)`,
      [placed.waiting.job],
    );
  });

  const list = async (query: string): Promise<{ items: any[]; next: string | null }> => {
    const { status, json } = await get(`/api/ops/pipelines?${query}`);
    expect([status, json]).toEqual([200, expect.anything()]);
    return json;
  };
  const retry = (id: number, token: string | null = tokens.operator) =>
    platform.call('POST', `/api/ops/pipelines/${id}/retry`, { token });

  it('lists a conversation in a rare step on the first page, even if many others entered other steps later', async () => {
    const steps = [{ slug: 'rare', title: 'Rare', pipeline_job: 'transcript_import' }];
    await platform.apply({ journeys: [{ slug: 'seldom', name: 'Seldom', is_conversation: true, steps }] });
    const [made] = await platform.sql<{ id: number }>(
      `with step as (select id, journey_id from directory.journey_steps where slug = 'rare'), made as (
         insert into conversations.all_conversations (journey_id, step_id) select journey_id, id from step returning id, step_id
       ) insert into conversations.pipeline_entries (id, conversation_id, step_id, pipeline_job, cause)
         overriding system value select -1, id, step_id, 'transcript_import', 'recorded' from made returning conversation_id as id`,
    );
    for (const query of ['step=rare', 'journey=seldom', 'journey=seldom&step=rare']) {
      const { items } = await list(`${query}&limit=1`);
      expect([query, items.map((item) => item.conversation_id)]).toEqual([query, [made?.id]]);
    }
    expect(await list('journey=circle&step=rare')).toEqual({ items: [], next: null });
    await platform.sql('delete from conversations.pipeline_entries where id = -1');
  });

  it('returns for each conversation the step, the time of entry, what the step waits for, and the last error', async () => {
    const { items, next } = await list('journey=circle&step=import');
    const facts = { journey: 'circle', step: 'import', since: expect.any(String) };
    expect([items, next]).toEqual([
      [
        {
          ...facts,
          conversation_id: placed.jobless.id,
          state: 'none',
          waiting_for: 'a job; none was started',
          error: null,
        },
        {
          ...facts,
          conversation_id: placed.dead.id,
          state: 'dead',
          waiting_for: 'an operator; the job is not retried automatically',
          error: 'The window is missing',
        },
        {
          ...facts,
          conversation_id: placed.waiting.id,
          state: 'queued',
          waiting_for: 'The transcript is not there yet',
          error: null,
        },
      ],
      null,
    ]);
    expect((await list('journey=circle&state=dead')).items).toEqual([items[1]]);
    const first = await list('journey=circle&limit=2');
    expect([...first.items, ...(await list(`journey=circle&limit=2&cursor=${first.next}`)).items]).toEqual(items);
    expect((await list('journey=unknown')).items).toEqual([]);
    expect(await platform.ask('pipelines', 'list', '--journey', 'circle', '--state', 'dead')).toEqual([items[1]]);
    const one = `conversation_id=${placed.waiting.id}`;
    expect(await list(one)).toEqual({ items: [items[2]], next: null });
    expect([
      (await list(`${one}&state=dead`)).items,
      (await list(`conversation_id=${placed.elsewhere.id}`)).items,
    ]).toEqual([[], []]);
    expect(await list('conversation_id=2000000000')).toEqual({ items: [], next: null });
    expect((await get('/api/ops/pipelines?conversation_id=0')).json.items).toEqual([]);
    expect(await platform.ask('pipelines', 'list', '--conversation', String(placed.waiting.id))).toEqual([items[2]]);
    for (const cursor of ['x', Buffer.from('["pipelines","9999999999","conversations"]').toString('base64url')])
      expect((await get(`/api/ops/pipelines?cursor=${cursor}`)).json.code).toBe('bad_cursor');
  });

  it('orders conversations on all pages by the time of step entry, not by id (D98)', async () => {
    const ids = [placed.waiting.id, placed.dead.id, placed.jobless.id];
    const set =
      'update conversations.pipeline_entries set entered_at = now() + make_interval(hours => $2) where conversation_id = any($1)';
    await platform.sql(set, [ids.slice(1), 1]);
    await platform.sql(set, [ids.slice(0, 1), 2]);
    const found: number[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page = await list(`journey=circle&step=import&limit=1${cursor === '' ? '' : `&cursor=${cursor}`}`);
      found.push(...page.items.map(({ conversation_id: id }) => id));
      cursor = page.next;
    }
    expect(found).toEqual([placed.waiting.id, placed.jobless.id, placed.dead.id]);
  });

  it('runs the existing job of a conversation now; returns 409 without a job and 404 for an unknown conversation', async () => {
    for (const { id, job } of [placed.waiting, placed.dead]) {
      const { status, json } = await retry(id);
      expect([status, json]).toEqual([
        200,
        expect.objectContaining({ conversation_id: id, journey: 'circle', step: 'import' }),
      ]);
      const jobs = await platform.sql<{ id: string; due: boolean }>(
        `select id, run_at <= now() or attempts > 0 or state <> 'queued' or sent_at is not null or generation > 0 as due from transcripts.jobs
         where payload ->> 'conversation_id' = $1`,
        [String(id)],
      );
      expect(jobs).toEqual([{ id: job, due: true }]);
    }
    for (const { id } of [placed.jobless, placed.elsewhere])
      expect(await retry(id)).toMatchObject({ status: 409, json: { code: 'no_job' } });
    expect(await retry(2_000_000_000)).toMatchObject({
      status: 404,
      json: { code: 'not_found', message: 'The conversation does not exist.' },
    });
    const entries = (await get(`/api/ops/audit?action=pipeline.retry&target=conversation:${placed.dead.id}`)).json
      .items;
    expect(entries).toMatchObject([{ changes: { job: placed.dead.job }, actor: { email: 'operator@example.org' } }]);
  });

  it('allows viewers to read pipelines and only operators to run jobs', async () => {
    expect((await retry(placed.waiting.id, tokens.viewer)).json.code).toBe('permission_denied');
    expect((await retry(placed.waiting.id, null)).status).toBe(401);
    expect((await get('/api/ops/pipelines', tokens.user)).status).toBe(403);
  });
});
