import { randomBytes, randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { appError } from '#libs/infrastructure/errors';
import { type JobRun, PermanentJobError, RetryLater } from '#libs/infrastructure/jobs';
import { waitFor } from '#libs/product/testing';
import { useShop } from './suite.ts';
import { addEffect, countEffects, readJob, type Replica, type ReplicaOptions, shop } from './fixture.ts';

type Run = JobRun<{ n: number; text?: string }>;

describe('attempts of a job (architecture#jobs)', () => {
  const suite = useShop(import.meta.url);

  const failing = (fail: (run: Run) => unknown): ReplicaOptions => ({
    handlers: {
      step: async (run) => {
        throw fail(run);
      },
    },
  });
  const enqueueStep = (replica: Replica, n = 1): Promise<string> =>
    replica.jobs.transaction((tx) => replica.jobs.enqueue(tx, shop.jobs.step, { n }));

  it("stores the result of a job's handler", async () => {
    const replica = await suite.start({ handlers: { step: async ({ payload: { n } }) => ({ doubled: n * 2 }) } });
    const row = await suite.waitForState(await enqueueStep(replica, 21), 'succeeded');
    expect(row).toMatchObject({ attempts: 1, error: null, percent: 100, result: '{"doubled": 42}' });
  });

  it('passes job, attempt, request and trace to the handler', async () => {
    let seen: Run | undefined;
    const replica = await suite.start({ handlers: { step: async (run) => void (seen = run) } });
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const id = await replica.jobs.transaction((tx) =>
      replica.jobs.enqueue(tx, shop.jobs.step, { n: 9 }, { requestId: 'r-9', traceparent }),
    );
    await suite.waitForState(id, 'succeeded');
    expect(seen).toMatchObject({ id, attempt: 1, requestId: 'r-9', payload: { n: 9 } });
    expect(seen?.context.traceparent).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-(?!b7ad6b7169203331)/);
    expect(seen?.context.actor).toBeUndefined();
  });

  it('retries with growing delays until the job is dead with its last error', async () => {
    const times: number[] = [];
    const replica = await suite.start(
      failing(({ attempt }) => {
        times.push(performance.now());
        return appError('unavailable', 'provider', `failure ${attempt}`);
      }),
    );
    const row = await suite.waitForState(await enqueueStep(replica), 'dead');
    expect(row).toMatchObject({ attempts: 3, error: 'failure 3' });
    expect(times).toHaveLength(3);
    expect((times[2] ?? 0) - (times[1] ?? 0)).toBeGreaterThanOrEqual(20);
  });

  it('marks a job as dead immediately when its error is permanent', async () => {
    const replica = await suite.start(failing(() => new PermanentJobError('no such conversation')));
    await expect(suite.waitForState(await enqueueStep(replica), 'dead')).resolves.toMatchObject({
      attempts: 1,
      error: 'no such conversation',
    });
  });

  it('does not count an attempt whose handler postpones the job', async () => {
    let runs = 0;
    const replica = await suite.start({
      handlers: {
        step: async ({ attempt }) => {
          expect(attempt).toBe(1);
          if (++runs <= 5) throw new RetryLater('no session yet', { delayMs: 10 });
        },
      },
    });
    await expect(suite.waitForState(await enqueueStep(replica), 'succeeded')).resolves.toMatchObject({
      attempts: 1,
      generation: 5,
    });
    expect(runs).toBe(6);
  });

  it('marks a job that exceeds its maximum age as dead, with the error of its last failure', async () => {
    const replica = await suite.start({
      handlers: { aging: async () => Promise.reject(new RetryLater('still nothing', { delayMs: 20 })) },
    });
    const id = await replica.jobs.transaction((tx) => replica.jobs.enqueue(tx, shop.jobs.aging, { n: 1 }));
    await expect(suite.waitForState(id, 'dead')).resolves.toMatchObject({ error: 'still nothing' });
  });

  it('stores no messages of third-party errors in the job', async () => {
    const replica = await suite.start(failing(() => JSON.parse('spoken words')));
    const row = await suite.waitForState(await enqueueStep(replica), 'dead');
    expect(row.error).toBe('Internal error (SyntaxError)');
  });

  it('stores at most 1000 characters of an error', async () => {
    const replica = await suite.start(failing(() => new PermanentJobError('x'.repeat(5_000))));
    const row = await suite.waitForState(await enqueueStep(replica), 'dead');
    expect(row.error).toHaveLength(1000);
  });

  it('marks a job as dead immediately when its payload violates the contract, whichever process stored it', async () => {
    let runs = 0;
    const replica = await suite.start({ handlers: { step: async () => void runs++ }, tuning: { pollMs: 50 } });
    const id = '01900000-0000-7000-8000-000000000001';
    await suite.env.sql(`insert into shop.jobs (id, type, payload) values ($1, 'shop.step', '{"n": "spoken words"}')`, [
      id,
    ]);
    const row = await suite.waitForState(id, 'dead');
    expect(row).toMatchObject({ attempts: 1, error: 'The payload breaks its declaration at /n: must be integer' });
    expect(runs).toBe(0);
    await replica.stop();
  });

  it('continues after messages that are not jobs, and after jobs of another service that cannot be stored', async () => {
    const foreign = (rest: string): string => `{"id":"${randomUUID()}",${rest}}`;
    const replica = await suite.start();
    for (const [index, body] of [
      'not json',
      '{}',
      '{"id": 1}',
      '[]',
      '{"id": "no-uuid"}',
      '\uD800',
      '{"id":"01900000-0000-7000-8000-00000000dead"}',
      foreign('"payload":{"n":1,"text":"\\u0000"}'),
      foreign('"payload":{"n":1,"text":"\\ud800"}'),
      foreign('"payload":{"n":1e200000}'),
      foreign(`"payload":{"n":${'['.repeat(10_000)}${']'.repeat(10_000)}}`),
      foreign('"payload":{"n":1},"run_at":1e300'),
      foreign('"payload":{"n":1},"key":"\\u0000"'),
      foreign(`"payload":{"n":1},"key":"${randomBytes(100_000).toString('hex')}"`),
    ].entries()) {
      await replica.bus.publishDurable('jobs.shop.step', body, { msgId: `poison-${index}` });
    }
    await expect(suite.waitForState(await enqueueStep(replica), 'succeeded')).resolves.toMatchObject({ attempts: 1 });
    const left = await waitFor(async () => {
      const { pending, ackPending } = await replica.bus.consumerLag('JOBS', 'shop_step');
      return pending + ackPending === 0 && 'nothing';
    });
    expect(left).toBe('nothing');
  });

  it("ignores an invalid request id or trace in a job's message", async () => {
    const replica = await suite.start();
    const id = randomUUID();
    const headers = { 'Request-Id': 'a\0b', traceparent: 'x'.repeat(10_000) };
    await replica.bus.publishDurable('jobs.shop.step', JSON.stringify({ id, payload: { n: 1 } }), {
      msgId: id,
      headers,
    });
    await suite.waitForState(id, 'succeeded');
    expect(await suite.env.sql('select request_id, traceparent from shop.jobs where id = $1', [id])).toEqual([
      { request_id: expect.stringMatching(/^[0-9a-f-]{36}$/), traceparent: null },
    ]);
    await replica.stop();
  });

  it('aborts an attempt at its time limit, and ignores later actions of its handler', async () => {
    let late: Promise<unknown> | undefined;
    const replica = await suite.start({
      handlers: {
        brief: async ({ signal, complete, attempt, id }) => {
          await new Promise((resolve) => signal.addEventListener('abort', resolve));
          late = complete((tx) => tx.query(addEffect, [8, id])).catch((error: unknown) => error);
          await late;
          throw appError('unavailable', 'slow', `attempt ${attempt} was slow`);
        },
      },
    });
    const id = await replica.jobs.transaction((tx) => replica.jobs.enqueue(tx, shop.jobs.brief, { n: 8 }));
    await expect(suite.waitForState(id, 'dead')).resolves.toMatchObject({
      attempts: 3,
      error: 'The attempt did not end within 150 ms',
    });
    expect(String(await late)).toMatch(/did not end within/);
    await expect(countEffects(suite.env, 8)).resolves.toBe(0);
  });

  it('ends an attempt at its time limit even if the handler ignores the signal', async () => {
    const replica = await suite.start({ handlers: { brief: () => new Promise(() => {}) }, tuning: { leaseMs: 5_000 } });
    const id = await replica.jobs.transaction((tx) => replica.jobs.enqueue(tx, shop.jobs.brief, { n: 8 }));
    await waitFor(async () => ((await readJob(suite.env, id))?.generation ?? 0) >= 1);
    await expect(readJob(suite.env, id)).resolves.toMatchObject({ error: 'The attempt did not end within 150 ms' });
  });

  it('publishes the progress of a running attempt of a job', async () => {
    let release = (): void => {};
    const gate = new Promise<void>((resolve) => (release = resolve));
    const replica = await suite.start({
      handlers: {
        step: async ({ progress }) => {
          progress(1, 'first');
          progress(42.7, 'half');
          progress(250);
          await gate;
        },
      },
    });
    const id = await enqueueStep(replica);
    await waitFor(async () => (await readJob(suite.env, id))?.phase === 'half');
    await expect(readJob(suite.env, id)).resolves.toMatchObject({ percent: 100, phase: 'half', state: 'running' });
    release();
    await suite.waitForState(id, 'succeeded');
  });

  it("rolls back a handler's writes and enqueued jobs when the job cannot complete", async () => {
    const replica = await suite.start({
      handlers: {
        step: async ({ complete, id }) => {
          await complete(async (tx) => {
            await tx.query(addEffect, [10, id]);
            await replica.jobs.enqueue(tx, shop.jobs.effect, { n: 11 });
            throw new PermanentJobError('changed my mind');
          });
        },
      },
    });
    await suite.waitForState(await enqueueStep(replica), 'dead');
    await expect(countEffects(suite.env, 10)).resolves.toBe(0);
    await expect(suite.env.sql(`select 1 from shop.jobs where type = 'shop.effect'`)).resolves.toEqual([]);
  });

  it('keeps a job succeeded when its handler fails after completing it', async () => {
    const replica = await suite.start({
      handlers: {
        step: async ({ complete, id }) => {
          await complete((tx) => tx.query(addEffect, [12, id]));
          throw new Error('afterwards');
        },
      },
    });
    const row = await suite.waitForState(await enqueueStep(replica), 'succeeded');
    expect(row.attempts).toBe(1);
    await expect(countEffects(suite.env, 12)).resolves.toBe(1);
  });
});
