import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { auditTables } from '#libs/infrastructure/audit';
import {
  actorSettings,
  databaseSettings,
  loadConfig,
  logSettings,
  natsSettings,
  replySettings,
  telemetrySettings,
} from '#libs/infrastructure/config';
import { defineService, job, withoutActor, rpc, Type } from '#libs/infrastructure/contract';
import { jobAttempts, jobTables } from '#libs/infrastructure/jobs';
import { connectBus, newContext } from '#libs/infrastructure/nats';
import { migrate, Migration } from '#libs/infrastructure/orm/migrations';
import { createServiceRuntime, type ServiceRuntime } from '#libs/infrastructure/service';
import { createTestEnvironment, startTcpProxy, type TestEnvironment, waitFor } from '#libs/product/testing';

const shelf = defineService({
  service: 'shelf',
  rpcs: {
    count: rpc({
      subject: 'shelf.things.count',
      summary: 'How many there are',
      callers: { reader: withoutActor },
      request: Type.Object({}),
      reply: Type.Object({ count: Type.Integer() }),
    }),
  },
  jobs: { dust: job({ type: 'shelf.dust', summary: 'Does what the test says', payload: Type.Object({}) }) },
  events: {},
});

class Migration20260101000000_shelf extends Migration {
  override up(): void {
    for (const sql of [jobTables('shelf'), ...jobAttempts('shelf'), ...auditTables('shelf')]) this.addSql(sql);
  }
}
const migrations = [Migration20260101000000_shelf];
const settings = Type.Object({
  ...databaseSettings,
  ...natsSettings,
  ...replySettings,
  ...actorSettings,
  ...logSettings,
  ...telemetrySettings,
});

describe('service runtime (architecture#services)', () => {
  let env: TestEnvironment;
  let stop: (() => Promise<void>) | undefined;

  beforeAll(async () => {
    env = await createTestEnvironment(import.meta.url);
  });
  afterEach(async () => {
    await stop?.();
    stop = undefined;
  });
  afterAll(async () => {
    await env.stop();
  });

  const open = (own: Record<string, string> = {}): Promise<ServiceRuntime<typeof shelf, typeof shelf>> =>
    createServiceRuntime({
      contract: shelf,
      config: loadConfig(settings, { ...env.settings, ...own }),
      migrations: migrations.map(({ name }) => name),
      logger: env.logger,
    });
  const run = async (
    runtime: ServiceRuntime<typeof shelf, typeof shelf>,
    start: () => Promise<void>,
  ): Promise<void> => {
    const service = runtime.service(start);
    let stopped: Promise<void> | undefined;
    stop = () => (stopped ??= service.stop());
    await service.start();
  };

  it('starts a service and answers calls when its migrations have run', async () => {
    const runtime = await open();
    let started = false;
    const running = run(runtime, async () => {
      started = true;
      await runtime.serve({ count: async () => ({ count: 3 }) });
      await runtime.jobs.work({ dust: async () => {} });
    });
    await waitFor(async () => (await runtime.db.ping(), true), { what: 'the database' });
    expect(started).toBe(false);
    await migrate({ url: env.settings['DATABASE_URL'] ?? '', schema: 'shelf', migrations, logger: env.logger });
    await running;

    const reader = await connectBus({
      url: env.settings['NATS_URL'] ?? '',
      name: 'reader',
      caller: 'reader',
      actors: env.actors,
      prefix: env.settings['NATS_SUBJECT_PREFIX'] ?? '',
      logger: env.logger,
    });
    await expect(reader.call(shelf.rpcs.count, {}, newContext())).resolves.toEqual({ count: 3 });
    await stop?.();
    await expect(reader.call(shelf.rpcs.count, {}, newContext())).rejects.toMatchObject({ code: 'unavailable' });
    await reader.close();
  });

  it('stops job sources first, then workers, then other components, and closes bus and database last', async () => {
    const runtime = await open();
    const seen: string[] = [];
    let finish = (): void => {};
    await run(runtime, async () => {
      await runtime.serve({ count: async () => ({ count: 0 }) });
      await runtime.jobs.work({
        dust: async () => {
          seen.push('job begins');
          await new Promise<void>((resolve) => (finish = resolve));
          seen.push('job ends');
        },
      });
      runtime.stopBeforeWorkers({ stop: async () => (seen.push('feed stops'), finish()) });
      runtime.onStop(() => seen.push('stops'));
      runtime.onClose(() => seen.push('closed second'));
      runtime.onClose(async () => {
        await runtime.db.ping();
        await runtime.bus.ping();
        seen.push('closed first');
      });
    });
    await runtime.jobs.transaction((tx) => runtime.jobs.enqueue(tx, shelf.jobs.dust, {}));
    await waitFor(() => seen.includes('job begins'), { what: 'the job' });
    await stop?.();
    expect(seen).toEqual(['job begins', 'stops', 'feed stops', 'job ends', 'closed first', 'closed second']);
  });

  it('aborts only work that exceeds its stop timeout', async () => {
    const runtime = await open();
    const seen: string[] = [];
    await run(runtime, async () => {
      let release = (): void => {};
      runtime.abortAfter(10, () => (seen.push('soon'), release()));
      runtime.abortAfter(60_000, () => seen.push('late'));
      runtime.onStop(() => new Promise<void>((resolve) => (release = resolve)));
    });
    await stop?.();
    expect(seen).toEqual(['soon']);
  });

  it('is not ready before its preparation ends, waits for an unavailable database, and fails to start for other errors', async () => {
    const database = await startTcpProxy(env.settings['DATABASE_URL'] ?? '');
    const runtime = await open({ DATABASE_URL: database.url });
    let tries = 0;
    await run(runtime, async () => {
      database.cut();
      await runtime.prepare(async () => {
        if (++tries === 2) database.restore();
        await runtime.db.ping();
      });
    });
    expect(tries).toBe(2);
    await expect(runtime.prepare(() => Promise.reject(new Error('a mistake')))).rejects.toThrow('a mistake');
    await stop?.();
    await database.stop();
  });

  it('catches up at its start and after a long outage of NATS, but not after a short one', async () => {
    const nats = await startTcpProxy(env.settings['NATS_URL'] ?? '');
    const runtime = await open({ NATS_URL: nats.url });
    const caughtUp = { anyOutage: 0, longOutage: 0 };
    let reconnections = 0;
    runtime.bus.onReconnect(() => reconnections++);
    await run(runtime, async () => {
      await runtime.catchUp(async () => void caughtUp.anyOutage++, { longOutageMs: 0 });
      await runtime.catchUp(async () => void caughtUp.longOutage++);
    });
    expect(caughtUp).toEqual({ anyOutage: 1, longOutage: 1 });
    nats.breakConnections();
    await waitFor(() => reconnections === 1 && caughtUp.anyOutage === 2, { what: 'the second catch-up' });
    expect(caughtUp.longOutage).toBe(1);
    await stop?.();
    await nats.stop();
  });

  it('runs cleanup immediately if requested, while the start continues', async () => {
    const runtime = await open();
    const seen: string[] = [];
    await run(runtime, async () => {
      runtime.runEvery(3_600_000, 'it failed', async () => seen.push('at once'), { immediately: true });
      runtime.runEvery(3_600_000, 'it failed', async () => seen.push('in an hour'));
    });
    expect(seen).toEqual(['at once']);
  });

  it('repeats a failed cleanup until the service stops', async () => {
    const runtime = await open();
    let runs = 0;
    await run(runtime, async () => {
      runtime.runEvery(5, 'it failed', async () => {
        runs++;
        throw new Error('for now');
      });
    });
    await waitFor(() => runs > 2, { what: 'three runs' });
    await stop?.();
    const before = runs;
    let looks = 0;
    await waitFor(() => ++looks > 5, { what: 'time for more of them' });
    expect(runs).toBe(before);
  });
});
