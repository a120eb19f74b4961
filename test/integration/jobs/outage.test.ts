import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';

import { createTestEnvironment, type TestEnvironment, waitFor } from '#libs/product/testing';
import { provideGoTool } from '../../../libs/product/servers/go-tool.ts';
import { natsServerTool } from '../../../libs/product/servers/go-tools.ts';
import { type NatsServer, startNats } from '../../../libs/product/servers/nats.ts';
import { makeStreams } from '../../../tools/streams.ts';
import { findFreePort } from '../../../libs/product/servers/ports.ts';
import { type PostgresServer, startPostgres } from '../../../libs/product/servers/postgres.ts';
import { migrateShop, openReplica, type Replica, shop, workEffect } from './fixture.ts';

const repoDir = join(import.meta.dirname, '..', '..', '..');
const count = { name: 'outage.count', text: `select count(*)::int as n from effects` };
const states = {
  name: 'outage.states',
  text: `select state, count(*)::int as n from jobs group by state order by state`,
};
const truncate = { name: 'outage.truncate', text: 'truncate jobs, job_attempts, outbox, effects' };

describe('jobs during server outages (architecture#jobs; rules/operations#promises)', () => {
  let env: TestEnvironment;
  let dataDir: string;
  let nats: NatsServer;
  let postgres: PostgresServer;
  let replica: Replica;
  let ports: { nats: number; postgres: number };

  const openNats = async (): Promise<NatsServer> => {
    const program = await provideGoTool(natsServerTool, () => {});
    return startNats({
      program,
      dataDir: join(dataDir, 'nats'),
      logFile: join(dataDir, 'nats.log'),
      durable: false,
      port: ports.nats,
    });
  };
  const openPostgres = (): Promise<PostgresServer> =>
    startPostgres({
      dataDir: join(dataDir, 'postgres'),
      logFile: join(dataDir, 'postgres.log'),
      modulesDir: join(repoDir, 'node_modules'),
      database: 'jobs',
      durable: false,
      port: ports.postgres,
    });

  /** Creates the streams, as the set-up job of an installation does. */
  const setUpStreams = (): Promise<void> =>
    makeStreams({ url: nats.url, prefix: env.settings['NATS_SUBJECT_PREFIX'] ?? '', logger: env.logger });

  beforeAll(async () => {
    env = await createTestEnvironment(import.meta.url);
    dataDir = join(repoDir, '.data', 'test-runs', `run-${process.pid}-${env.id}`);
    ports = { nats: await findFreePort(), postgres: await findFreePort() };
    [nats, postgres] = await Promise.all([openNats(), openPostgres()]);
    await migrateShop(postgres.url, env);
    await setUpStreams();
  });
  beforeEach(async () => {
    replica = await openReplica(env, {
      url: postgres.url,
      natsUrl: nats.url,
      handlers: {
        effect: async (run) => {
          await new Promise((resolve) => setTimeout(resolve, 20));
          await workEffect(run);
        },
      },
    });
    await replica.db.query(truncate);
  });
  afterEach(async () => {
    await replica.stop();
  });
  afterAll(async () => {
    await Promise.all([nats.stop(), postgres.stop()]);
    rmSync(dataDir, { recursive: true, force: true });
    await env.stop();
  });

  const enqueue = (n: number): Promise<string> =>
    replica.jobs.transaction((tx) => replica.jobs.enqueue(tx, shop.jobs.effect, { n }));
  /** Waits until this many jobs exist and all have succeeded. @returns the number of their effects */
  const waitForEffects = async (jobs: number): Promise<number> => {
    await waitFor(
      async () => {
        const rows = await replica.db.query<{ state: string; n: number }>(states);
        return rows.length === 1 && rows[0]?.state === 'succeeded' && rows[0].n === jobs;
      },
      { what: `${jobs} jobs to succeed` },
    );
    const [row] = await replica.db.query<{ n: number }>(count);
    return row?.n ?? 0;
  };

  it('enqueues jobs while the broker is down, and processes them afterwards', async () => {
    await nats.stop();
    // Enqueuing must not wait for the broker, which is stopped.
    for (let n = 0; n < 20; n++) await enqueue(n);
    await expect(replica.db.query(states)).resolves.toEqual([{ state: 'queued', n: 20 }]);
    nats = await openNats();
    await expect(waitForEffects(20)).resolves.toBe(20);
  });

  it('stores jobs in PostgreSQL while their stream is full, and processes them when it has space', async () => {
    const { bus } = replica;
    const filler = 'jobs.elsewhere.filler';
    await bus.ensureStreams({ JOBS: 100_000 });
    const fill = (size: number, n: number) =>
      bus.publishDurable(filler, Buffer.alloc(size), { msgId: `filler-${size}-${n}` });
    for (let n = 0; n < 9; n++) await fill(11_000, n);
    const filling = Array.from({ length: 20 }, (_value, n) => fill(10, n));
    expect((await Promise.allSettled(filling)).map(({ status }) => status)).toContain('rejected');
    for (let n = 0; n < 20; n++) await enqueue(n);
    await expect(replica.db.query(states)).resolves.toEqual([{ state: 'queued', n: 20 }]);
    const worker = await bus.consume(
      { stream: 'JOBS', durable: 'filler', filter: filler, concurrency: 4 },
      (delivery) => {
        delivery.ack();
        return Promise.resolve();
      },
    );
    await expect(waitForEffects(20)).resolves.toBe(20);
    await worker.stop();
    await bus.ensureStreams();
  });

  it('processes each job with one effect across a restart of the broker under load', async () => {
    const load = { on: true };
    let enqueued = 0;
    const loading = (async () => {
      while (load.on) {
        await enqueue(enqueued++);
      }
    })();
    await waitFor(() => enqueued > 30);
    await nats.stop();
    const before = enqueued;
    await waitFor(() => enqueued > before + 10);
    nats = await openNats();
    const after = enqueued;
    await waitFor(() => enqueued > after + 30);
    load.on = false;
    await loading;
    await expect(waitForEffects(enqueued)).resolves.toBe(enqueued);
  });

  it('processes all jobs after the broker lost its data and its streams were recreated', async () => {
    await enqueue(1);
    await expect(waitForEffects(1)).resolves.toBe(1);
    await nats.stop();
    for (let n = 2; n <= 6; n++) await enqueue(n);
    rmSync(join(dataDir, 'nats', 'jetstream'), { recursive: true, force: true });
    nats = await openNats();
    await setUpStreams();
    await expect(waitForEffects(6)).resolves.toBe(6);
  });

  it('preserves the order of events across an outage', async () => {
    const heard: number[] = [];
    const end = replica.bus.subscribeEvent(shop.events.sold, ({ n }) => void heard.push(n));
    await replica.bus.ping();
    const emit = (n: number): Promise<void> =>
      replica.jobs.transaction((tx) => replica.jobs.emit(tx, shop.events.sold, { n }));
    for (let n = 0; n < 5; n++) await emit(n);
    await nats.stop();
    for (let n = 5; n < 25; n++) await emit(n);
    nats = await openNats();
    let n = 25;
    await waitFor(async () => {
      await emit(n++);
      return heard.length >= 40;
    });
    await waitFor(() => new Set(heard).size === n);
    end();
    const firsts = [...new Set(heard)];
    expect(firsts).toEqual(Array.from({ length: n }, (_, index) => index));
  });

  it('processes each job with one effect across a restart of the database under load', async () => {
    const load = { on: true };
    let acknowledged = 0;
    let refused = 0;
    const loading = Promise.all(
      Array.from({ length: 4 }, async () => {
        while (load.on) {
          try {
            await enqueue(1);
            acknowledged++;
          } catch (error) {
            expect(error).toMatchObject({ code: 'unavailable' });
            refused++;
            await new Promise((resolve) => setTimeout(resolve, 50));
          }
        }
      }),
    );
    await waitFor(() => acknowledged > 30);
    await postgres.stop();
    await waitFor(() => refused > 4);
    postgres = await openPostgres();
    const before = acknowledged;
    await waitFor(() => acknowledged > before + 30);
    load.on = false;
    await loading;
    await waitFor(
      async () => (await replica.db.query<{ state: string }>(states)).every(({ state }) => state === 'succeeded'),
      {},
    );
    const [jobs] = await replica.db.query<{ n: number }>(states);
    // A commit whose response was lost is counted neither as acknowledged nor as failed, but its job still has an
    // effect.
    expect(jobs?.n).toBeGreaterThanOrEqual(acknowledged);
    await expect(
      replica.db.query({
        name: 'outage.twice',
        text: 'select job_id from effects group by job_id having count(*) <> 1',
      }),
    ).resolves.toEqual([]);
    await expect(replica.db.query(count)).resolves.toEqual([{ n: jobs?.n }]);
    expect(replica.db.stats().total).toBeLessThanOrEqual(6);
  });
});
