import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { createJobs, PermanentJobError } from '#libs/infrastructure/jobs';
import { createDatabase, type Tx } from '#libs/infrastructure/orm';
import { createMetrics } from '#libs/infrastructure/telemetry';
import { waitFor } from '#libs/product/testing';
import { useShop } from './suite.ts';
import { addEffect, countEffects, fast, office, readJob, shop } from './fixture.ts';

describe('jobs (architecture#jobs)', () => {
  const suite = useShop(import.meta.url);

  describe('enqueue', () => {
    it('creates a job if and only if its transaction commits', async () => {
      const { jobs } = await suite.start();
      const id = await jobs.transaction((tx) => jobs.enqueue(tx, shop.jobs.effect, { n: 1 }, { requestId: 'r-1' }));
      let lost = '';
      const failed = jobs.transaction(async (tx) => {
        lost = await jobs.enqueue(tx, shop.jobs.effect, { n: 2 });
        throw new Error('no');
      });
      await expect(failed).rejects.toThrow('no');
      await suite.waitForState(id, 'succeeded');
      await expect(countEffects(suite.env, 1)).resolves.toBe(1);
      await expect(readJob(suite.env, lost)).resolves.toBeUndefined();
    });

    it('sends jobs enqueued in a transaction without `jobs.transaction`', async () => {
      const { jobs, db } = await suite.start({ tuning: { pollMs: 60_000 } });
      const id = await db.transaction((tx) => jobs.enqueue(tx, shop.jobs.effect, { n: 3 }));
      await expect(suite.waitForState(id, 'succeeded')).resolves.toMatchObject({ attempts: 1 });
    });

    it('rejects a job payload that violates the contract without revealing its values', async () => {
      const { jobs } = await suite.start();
      const failed = jobs.transaction((tx) => jobs.enqueue(tx, shop.jobs.step, { n: 'secret' as unknown as number }));
      await expect(failed).rejects.toThrow('payload of shop.step breaks its declaration at /n: must be integer');
    });

    it('rejects enqueuing in a transaction that has ended', async () => {
      const { jobs } = await suite.start();
      let kept: Tx | undefined;
      await jobs.transaction(async (tx) => {
        kept = tx;
        await jobs.emit(tx, shop.events.sold, { n: 1 });
      });
      await expect(jobs.enqueue(kept as Tx, shop.jobs.step, { n: 1 })).rejects.toThrow('The transaction is over');
      await jobs.transaction(async (tx) => void (kept = tx));
      await expect(jobs.enqueue(kept as Tx, shop.jobs.step, { n: 1 })).rejects.toThrow('The transaction is over');
    });

    it('runs a delayed job on time even if the broker delivers no message', async () => {
      const first = await suite.start();
      const startedMs = Date.now();
      const id = await first.jobs.transaction((tx) =>
        first.jobs.enqueue(tx, shop.jobs.effect, { n: 4 }, { delayMs: 700 }),
      );
      await first.stop();
      await suite.start();
      await suite.waitForState(id, 'succeeded');
      expect(Date.now() - startedMs).toBeGreaterThanOrEqual(700);
    });

    it('stores one waiting job per type and key, even for concurrent transactions, and a second one once it runs', async () => {
      let release = (): void => {};
      const gate = new Promise<void>((resolve) => (release = resolve));
      const { jobs } = await suite.start({ handlers: { step: () => gate } });
      const enqueue = (tx: Tx, delayMs?: number): Promise<string> =>
        jobs.enqueue(tx, shop.jobs.step, { n: 1 }, { key: 'k', delayMs });
      const ids = await Promise.all(Array.from({ length: 10 }, () => jobs.transaction((tx) => enqueue(tx, 60_000))));
      expect(new Set(ids).size).toBe(1);
      const [first = ''] = ids;
      // The same key without delay makes the waiting job due now.
      await expect(jobs.transaction((tx) => enqueue(tx))).resolves.toBe(first);
      await suite.waitForState(first, 'running');
      const second = await jobs.transaction((tx) => enqueue(tx, 60_000));
      expect(second).not.toBe(first);
      release();
      await suite.waitForState(first, 'succeeded');
      await expect(
        jobs.transaction((tx) => jobs.enqueue(tx, shop.jobs.brief, { n: 1 }, { key: 'k' })),
      ).resolves.not.toBe(second);
    });

    it('starts a keyed job only after the end of a transaction that enqueued it again', async () => {
      const seen: number[] = [];
      const { jobs, db } = await suite.start({
        handlers: {
          step: async () =>
            void seen.push((await db.query({ name: 'seen', text: 'select 1 from effects where n = 77' })).length),
        },
      });
      await jobs.transaction((tx) => jobs.enqueue(tx, shop.jobs.step, { n: 1 }, { key: 'late', delayMs: 150 }));
      const id = await jobs.transaction(async (tx) => {
        const joined = await jobs.enqueue(tx, shop.jobs.step, { n: 1 }, { key: 'late' });
        await sleep(400);
        await tx.query(addEffect, [77, joined]);
        return joined;
      });
      await suite.waitForState(id, 'succeeded');
      expect(seen).toEqual([1]);
    });
  });

  describe('jobs for another service', () => {
    it('sends jobs for another service through the outbox, and stores their row at the first delivery', async () => {
      const replica = await suite.start();
      const logger = suite.env.logger;
      const db = await createDatabase({
        url: suite.env.settings['DATABASE_URL'] ?? '',
        schema: 'office',
        poolSize: 2,
        logger,
        applicationName: 'office',
      });
      const producer = createJobs({ contract: office, db, bus: replica.bus, logger, tuning: fast });
      await producer.work({});
      try {
        const id = await producer.transaction((tx) =>
          producer.enqueue(tx, shop.jobs.effect, { n: 5 }, { requestId: 'r-5' }),
        );
        await suite.waitForState(id, 'succeeded');
        await expect(countEffects(suite.env, 5)).resolves.toBe(1);
        await waitFor(async () => (await suite.env.sql('select 1 from office.outbox')).length === 0);
        await expect(suite.env.sql('select 1 from office.jobs')).resolves.toEqual([]);
        const startedMs = Date.now();
        const later = await producer.transaction((tx) =>
          producer.enqueue(tx, shop.jobs.effect, { n: 6 }, { delayMs: 400 }),
        );
        await suite.waitForState(later, 'succeeded');
        expect(Date.now() - startedMs).toBeGreaterThanOrEqual(390);
        const keyed = () =>
          producer.transaction((tx) =>
            producer.enqueue(tx, shop.jobs.effect, { n: 7 }, { key: 'same', delayMs: 60_000 }),
          );
        await Promise.all([keyed(), keyed(), keyed()]);
        const waiting = `select 1 from shop.jobs where key = 'same' and state = 'queued'`;
        await waitFor(async () => (await suite.env.sql(waiting)).length > 0);
        await waitFor(async () => (await replica.bus.consumerLag('JOBS', 'shop_effect')).ackPending === 0);
        await expect(suite.env.sql(waiting)).resolves.toHaveLength(1);
      } finally {
        await producer.stop();
        await db.close();
      }
    });
  });

  describe('deliveries', () => {
    it('runs each job with one effect although two replicas receive every message twice', async () => {
      const [one] = await Promise.all([suite.start({ name: 'one' }), suite.start({ name: 'two' })]);
      const ids = await one.jobs.transaction((tx) =>
        Promise.all(Array.from({ length: 40 }, (_, n) => one.jobs.enqueue(tx, shop.jobs.effect, { n: 100 + n }))),
      );
      await Promise.all(
        ids.map((id) => one.bus.publishDurable('jobs.shop.effect', JSON.stringify({ id }), { msgId: `again-${id}` })),
      );
      for (const id of ids) await suite.waitForState(id, 'succeeded');
      await Promise.all(
        ids.map((id) => one.bus.publishDurable('jobs.shop.effect', JSON.stringify({ id }), { msgId: `late-${id}` })),
      );
      await waitFor(async () => {
        const { pending, ackPending } = await one.bus.consumerLag('JOBS', 'shop_effect');
        return pending + ackPending === 0;
      });
      await expect(
        suite.env.sql('select n from shop.effects where n >= 100 group by n having count(*) <> 1'),
      ).resolves.toEqual([]);
      await expect(suite.env.sql('select count(*)::int as n from shop.effects where n >= 100')).resolves.toEqual([
        { n: 40 },
      ]);
    });

    it('runs a job at its time even if its message is delivered earlier', async () => {
      const replica = await suite.start();
      const id = await replica.jobs.transaction((tx) =>
        replica.jobs.enqueue(tx, shop.jobs.effect, { n: 13 }, { delayMs: 60_000 }),
      );
      await replica.bus.publishDurable('jobs.shop.effect', JSON.stringify({ id }), { msgId: `early-${id}` });
      await waitFor(async () => {
        const { pending, ackPending } = await replica.bus.consumerLag('JOBS', 'shop_effect');
        return pending + ackPending === 0;
      });
      expect((await readJob(suite.env, id))?.state).toBe('queued');
      await suite.env.sql('update shop.jobs set run_at = now() where id = $1', [id]);
      await suite.waitForState(id, 'succeeded');
      await expect(countEffects(suite.env, 13)).resolves.toBe(1);
    });
  });

  describe('a stopping worker', () => {
    it('releases a job that a stopping worker receives after its grace time', async () => {
      let runs = 0;
      const never = (): Promise<void> => new Promise(() => runs++);
      const { bus, stop } = await suite.start({
        tuning: { pollMs: 60_000, sweepMs: 60_000, stopGraceMs: 100 },
        handlers: { step: never },
      });
      const id = '01900000-0000-7000-8000-000000000021';
      await suite.env.sql(`insert into shop.jobs (id, type, payload) values ($1, 'shop.step', '{"n": 1}')`, [id]);
      // Holds the lock until the worker was asked to stop and its grace time is over, however slow the machine is.
      const held = suite.env.sql(`do $$ begin
        lock table shop.jobs in share row exclusive mode;
        while not exists (select 1 from shop.effects where n = 21) loop perform pg_sleep(0.02); end loop;
        perform pg_sleep(0.5);
      end $$`);
      const locks = `select 1 from pg_locks where relation = 'shop.jobs'::regclass and`;
      await waitFor(
        async () => (await suite.env.sql(`${locks} mode = 'ShareRowExclusiveLock' and granted`)).length > 0,
      );
      await bus.publishDurable('jobs.shop.step', JSON.stringify({ id }), { msgId: `late-${id}` });
      await waitFor(async () => (await suite.env.sql(`${locks} not granted`)).length > 0);
      const stopped = stop();
      await suite.env.sql('insert into shop.effects (n, job_id) values (21, $1)', [id]);
      await Promise.all([stopped, held]);
      expect(await readJob(suite.env, id)).toMatchObject({ state: 'queued', attempts: 0 });
      expect(runs).toBe(0);
    });
  });

  describe('metrics (rules/operations#metrics)', () => {
    it('reports queues, ages, attempts by outcome and the outbox as metrics', async () => {
      const replica = await suite.start({ works: false });
      const metrics = createMetrics('shop');
      const jobs = createJobs({
        contract: shop,
        db: replica.db,
        bus: replica.bus,
        logger: suite.env.logger,
        metrics,
        tuning: fast,
      });
      try {
        await jobs.work({
          effect: async () => {},
          step: async () => Promise.reject(new PermanentJobError('broken')),
          brief: async () => {},
          aging: async () => {},
        });
        const enqueue = (name: 'effect' | 'step', delayMs = 0): Promise<string> =>
          jobs.transaction((tx) => jobs.enqueue(tx, shop.jobs[name], { n: 1 }, { delayMs }));
        await suite.waitForState(await enqueue('effect'), 'succeeded');
        await suite.waitForState(await enqueue('step'), 'dead');
        await enqueue('effect', 60_000);
        let { text } = await metrics.render();
        const value = (line: string): number =>
          Number(
            text
              .split('\n')
              .find((item) => item.startsWith(line))
              ?.split(' ')
              .at(-1),
          );
        expect(value('coherence_job_attempts_total{type="shop.effect",outcome="succeeded"')).toBe(1);
        expect(value('coherence_job_attempts_total{type="shop.step",outcome="dead"')).toBe(1);
        expect(value('coherence_job_queue_pending{type="shop.effect"')).toBe(1);
        expect(value('coherence_job_queue_dead{type="shop.step"')).toBe(1);
        expect(value('coherence_job_queue_dead{type="shop.brief"')).toBe(0);
        expect(value('coherence_job_oldest_age_seconds{type="shop.effect"')).toBe(0);
        expect(value('coherence_outbox_age_seconds')).toBe(0);

        await jobs.admin.cancel({ type: 'shop.step', state: 'dead' });
        await waitFor(async () => {
          ({ text } = await metrics.render());
          return value('coherence_job_queue_dead{type="shop.step"') === 0;
        });
      } finally {
        await jobs.stop();
      }
    });
  });

  describe('start', () => {
    it('does not start when a declared job has no handler or a handler is not declared', async () => {
      const replica = await suite.start({ works: false });
      const create = () => createJobs({ contract: shop, db: replica.db, bus: replica.bus, logger: suite.env.logger });
      const all = { effect: async () => {}, step: async () => {}, brief: async () => {}, aging: async () => {} };
      const { aging: _aging, ...missing } = all;
      await expect(create().work(missing)).rejects.toThrow('job shop.aging has no handler');
      await expect(create().work({ ...all, 'shop.other': async () => {} })).rejects.toThrow(
        '"shop.other" belongs to no declared job',
      );
    });
  });
});
