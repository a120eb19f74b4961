import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createTestEnvironment, type TestEnvironment, waitFor } from '#libs/product/testing';
import { Sweeper } from '../../../libs/infrastructure/jobs/sweeper.ts';
import { defaultTuning } from '../../../libs/infrastructure/jobs/types.ts';
import { countEffects, migrateShop, openReplica, readJob, type Replica, shop } from './fixture.ts';

describe('recovery of interrupted steps (architecture#jobs: sweeper and relay)', () => {
  let env: TestEnvironment;
  let replica: Replica;
  let release: () => void;
  let gate: Promise<void>;
  let nextN = 1;

  beforeAll(async () => {
    env = await createTestEnvironment(import.meta.url);
    await migrateShop(env.settings['DATABASE_URL'] ?? '', env);
  });
  beforeEach(async () => {
    gate = new Promise((resolve) => (release = resolve));
    replica = await openReplica(env, { handlers: { step: () => gate } });
  });
  afterEach(async () => {
    release();
    await replica.stop();
    await env.sql('truncate shop.jobs, shop.job_attempts, shop.outbox, shop.effects');
  });
  afterAll(async () => {
    await env.stop();
  });

  let nextId = 1;
  const newId = (): string => `01900000-0000-7000-8000-${String(nextId++).padStart(12, '0')}`;
  const insertJob = async (columns: Record<string, string>): Promise<{ id: string; n: number }> => {
    const [id, n] = [newId(), nextN++];
    const names = Object.keys(columns).map((name) => `, ${name}`);
    const values = Object.values(columns).map((value) => `, ${value}`);
    await env.sql(
      `insert into shop.jobs (id, type, payload${names.join('')}) values ('${id}', 'shop.effect', '{"n": ${n}}'${values.join('')})`,
    );
    return { id, n };
  };
  /** Waits until the job succeeds. @returns the number of effects of the job */
  const waitForSuccess = async ({ id, n }: { id: string; n: number }): Promise<number> => {
    await waitFor(async () => (await readJob(env, id))?.state === 'succeeded', { what: `job ${id}` });
    return countEffects(env, n);
  };

  it('sends a due job that was not sent to the broker', async () => {
    await expect(waitForSuccess(await insertJob({}))).resolves.toBe(1);
  });

  it('sends a job again whose process died between the commit and the sending', async () => {
    const job = await insertJob({ sent_at: 'now()' });
    await expect(waitForSuccess(job)).resolves.toBe(1);
    await expect(readJob(env, job.id)).resolves.toMatchObject({ generation: 1, attempts: 1 });
  });

  it('sends an outbox row again whose process died while sending it', async () => {
    const [id, n] = [newId(), nextN++];
    await env.sql(
      `insert into shop.outbox (message_id, kind, subject, body, send_after, backlog)
       values ($1, 'job', 'jobs.shop.effect', $2, now() + interval '300 milliseconds', false)`,
      [id, JSON.stringify({ id, payload: { n } })],
    );
    await expect(waitForSuccess({ id, n })).resolves.toBe(1);
    await waitFor(async () => (await env.sql('select 1 from shop.outbox')).length === 0);
  });

  it('runs a job of a dead worker again even if the broker redelivers no message', async () => {
    const job = await insertJob({
      state: `'running'`,
      lease: '7',
      lease_until: `now() - interval '1 second'`,
      attempts: '1',
      worker: `'gone'`,
    });
    await expect(waitForSuccess(job)).resolves.toBe(1);
    await expect(readJob(env, job.id)).resolves.toMatchObject({ attempts: 2, generation: 1 });
  });

  it('marks a job as dead when its worker died during the last attempt', async () => {
    const job = await insertJob({ state: `'running'`, lease_until: `now() - interval '1 second'`, attempts: '100' });
    await waitFor(async () => (await readJob(env, job.id))?.state === 'dead');
    await expect(readJob(env, job.id)).resolves.toMatchObject({
      error: 'The worker stopped before the job was done (its lease expired)',
      attempts: 100,
    });
  });

  it('does not resend jobs that wait for other jobs at the broker', async () => {
    const ids = await replica.jobs.transaction((tx) =>
      Promise.all(Array.from({ length: 12 }, (_, n) => replica.jobs.enqueue(tx, shop.jobs.step, { n }))),
    );
    await waitFor(async () => (await env.sql(`select 1 from shop.jobs where state = 'running'`)).length === 8);
    const waitedMs = `select 1 from shop.jobs where state = 'queued' and sent_at < now() - interval '1200 milliseconds'`;
    await waitFor(async () => (await env.sql(waitedMs)).length === 4);
    await expect(env.sql('select max(generation) as generation from shop.jobs')).resolves.toEqual([{ generation: 0 }]);
    release();
    for (const id of ids) await waitFor(async () => (await readJob(env, id))?.state === 'succeeded');
  });

  it('deletes succeeded and cancelled jobs after their retention time, and never deletes dead ones', async () => {
    await replica.stop();
    const old = `now() - interval '2 days'`;
    const succeeded = await insertJob({ state: `'succeeded'`, created_at: old, finished_at: old });
    const cancelled = await insertJob({ state: `'cancelled'`, created_at: old, finished_at: old });
    const dead = await insertJob({ state: `'dead'`, created_at: old, finished_at: old, error: `'x'` });
    const young = await insertJob({ state: `'succeeded'`, created_at: old, finished_at: 'now()' });
    replica = await openReplica(env, { tuning: { finishedRetentionMs: 86_400_000 } });
    await waitFor(async () => (await readJob(env, succeeded.id)) === undefined);
    expect(await readJob(env, cancelled.id)).toBeUndefined();
    expect((await readJob(env, dead.id))?.state).toBe('dead');
    expect((await readJob(env, young.id))?.state).toBe('succeeded');
  });

  it('deletes all expired jobs in one sweep, regardless of their number', async () => {
    await replica.stop();
    await env.sql(
      `insert into shop.jobs (id, type, payload, state, created_at, finished_at)
       select ('01900000-0000-7000-9000-' || lpad(n::text, 12, '0'))::uuid, 'shop.effect', '{}', 'succeeded', now() - interval '8 days', now() - interval '8 days'
       from generate_series(1, 6000) n`,
    );
    await env.sql(
      `insert into shop.handed_over (message_id, subject, body, handed_at)
       select gen_random_uuid(), 'jobs.other.thing', '{}', now() - interval '2 days' from generate_series(1, 6000) n`,
    );
    replica = await openReplica(env, { works: false });
    const unused = undefined as never;
    // The sweep interval limits how long one removal may take.
    const tuning = { ...defaultTuning, sweepMs: 600_000 };
    await new Sweeper({
      db: replica.db,
      bus: unused,
      jobs: unused,
      relay: unused,
      logger: env.logger,
      tuning,
      declarations: [],
    }).sweep();
    const left = `select (select count(*) from shop.jobs)::integer as jobs, (select count(*) from shop.handed_over where handed_at < now() - interval '1 day')::integer as sent`;
    expect(await env.sql(left)).toEqual([{ jobs: 0, sent: 0 }]);
  });
});
