import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { isJsonObject } from '#libs/infrastructure/json';
import {
  createTestEnvironment,
  type ScriptProcess,
  startScriptProcess,
  type TestEnvironment,
  waitFor,
} from '#libs/product/testing';
import { countEffects, migrateShop, openReplica, readJob, type Replica, shop } from './fixture.ts';

const script = join(import.meta.dirname, 'worker-process.ts');

describe('jobs whose worker dies or stalls (architecture#jobs; rules/operations#promises)', () => {
  let env: TestEnvironment;
  let producer: Replica;
  const processes: ScriptProcess[] = [];
  let nextN = 1;

  beforeAll(async () => {
    env = await createTestEnvironment(import.meta.url);
    await migrateShop(env.settings['DATABASE_URL'] ?? '', env);
  });
  beforeEach(async () => {
    producer = await openReplica(env, { works: false, name: 'producer' });
  });
  afterEach(async () => {
    for (const item of processes.splice(0)) {
      item.signal('SIGKILL');
      await item.ended;
    }
    await producer.stop();
  });
  afterAll(async () => {
    await env.stop();
  });

  const startWorker = async (name: string, settings: Record<string, string> = {}): Promise<ScriptProcess> => {
    const item = startScriptProcess(script, { ...env.settings, WORKER_NAME: name, ...settings });
    processes.push(item);
    await item.waitForMessage((message) => (isJsonObject(message) && message['ready'] === true ? true : undefined));
    return item;
  };
  const enqueue = (n: number, text: string): Promise<string> =>
    producer.jobs.transaction((tx) => producer.jobs.enqueue(tx, shop.jobs.effect, { n, text }));
  const waitForPlace = (item: ScriptProcess, id: string): Promise<string> =>
    item.waitForMessage((message) =>
      isJsonObject(message) && message['id'] === id ? String(message['at']) : undefined,
    );
  const waitForFailure = (item: ScriptProcess, id: string): Promise<string> =>
    item.waitForMessage((message) =>
      isJsonObject(message) && message['failed'] === id ? String(message['error']) : undefined,
    );
  const waitForEnd = (id: string) =>
    waitFor(
      async () => {
        const row = await readJob(env, id);
        return row?.state === 'succeeded' ? row : undefined;
      },
      { what: `job ${id} to succeed` },
    );

  for (const place of ['before', 'inside'] as const) {
    it(`have their effect exactly once when the worker is killed ${place} the effect's transaction`, async () => {
      const n = nextN++;
      const victim = await startWorker('victim');
      const id = await enqueue(n, place);
      await waitForPlace(victim, id);
      victim.signal('SIGKILL');
      await expect(victim.ended).resolves.toBe('SIGKILL');
      await expect(countEffects(env, n)).resolves.toBe(0);
      expect((await readJob(env, id))?.state).toBe('running');
      const heir = await startWorker('heir');
      await waitForPlace(heir, id);
      heir.send({ go: true });
      await expect(waitForEnd(id)).resolves.toMatchObject({ attempts: 2, worker: 'heir' });
      await expect(countEffects(env, n)).resolves.toBe(1);
    });
  }

  it('does not run a job again whose worker is killed between the commit and the acknowledgement', async () => {
    const n = nextN++;
    const victim = await startWorker('victim');
    const id = await enqueue(n, 'after');
    await waitForPlace(victim, id);
    victim.signal('SIGKILL');
    await victim.ended;
    const heir = await startWorker('heir');
    await waitFor(async () => {
      const { pending, ackPending } = await producer.bus.consumerLag('JOBS', 'shop_effect');
      return pending + ackPending === 0;
    });
    await expect(readJob(env, id)).resolves.toMatchObject({ state: 'succeeded', attempts: 1, worker: 'victim' });
    await expect(countEffects(env, n)).resolves.toBe(1);
    expect(heir.messages).toHaveLength(1);
  });

  it('rejects the completion of a stalled worker after another worker acquired the lease of the job', async () => {
    const n = nextN++;
    const stalled = await startWorker('stalled');
    const id = await enqueue(n, 'before');
    await waitForPlace(stalled, id);
    stalled.signal('SIGSTOP');
    const heir = await startWorker('heir');
    await waitForPlace(heir, id);
    stalled.send({ go: true });
    stalled.signal('SIGCONT');
    await expect(waitForFailure(stalled, id)).resolves.toBe('LeaseLost');
    await expect(countEffects(env, n)).resolves.toBe(0);
    heir.send({ go: true });
    await expect(waitForEnd(id)).resolves.toMatchObject({ attempts: 2, worker: 'heir' });
    await expect(countEffects(env, n)).resolves.toBe(1);
  });

  it('renews the lease of a job while its worker is alive', async () => {
    const n = nextN++;
    const slow = await startWorker('slow', { LEASE_MS: '3000' });
    const rival = await startWorker('rival', { LEASE_MS: '3000' });
    const id = await enqueue(n, 'before');
    const worker = await waitFor(async () => (await readJob(env, id))?.worker);
    const owner = worker === 'slow' ? slow : rival;
    await waitForPlace(owner, id);
    const first = await readJob(env, id);
    const outlived = 'select 1 from shop.jobs where id = $1 and now() > $2::timestamptz';
    await waitFor(async () => (await env.sql(outlived, [id, first?.lease_until])).length > 0, {
      what: 'the end of the first lease',
    });
    await expect(readJob(env, id)).resolves.toMatchObject({ state: 'running', lease: first?.lease, attempts: 1 });
    owner.send({ go: true });
    await waitForEnd(id);
    await expect(countEffects(env, n)).resolves.toBe(1);
  });

  it('a stopping worker finishes jobs that end within the grace time', async () => {
    const n = nextN++;
    const worker = await startWorker('polite', { STOP_GRACE_MS: '10000' });
    const id = await enqueue(n, 'before');
    await waitForPlace(worker, id);
    worker.signal('SIGTERM');
    worker.send({ go: true });
    await expect(worker.ended).resolves.toBe(0);
    await expect(readJob(env, id)).resolves.toMatchObject({ state: 'succeeded', attempts: 1 });
  });

  it('a stopping worker releases jobs that do not end within the grace time', async () => {
    const n = nextN++;
    const worker = await startWorker('polite', { STOP_GRACE_MS: '100' });
    const id = await enqueue(n, 'before');
    await waitForPlace(worker, id);
    worker.signal('SIGTERM');
    await expect(worker.ended).resolves.toBe(0);
    await expect(readJob(env, id)).resolves.toMatchObject({ state: 'queued', attempts: 0 });
    const heir = await startWorker('heir');
    await waitForPlace(heir, id);
    heir.send({ go: true });
    await expect(waitForEnd(id)).resolves.toMatchObject({ attempts: 1, worker: 'heir' });
    await expect(countEffects(env, n)).resolves.toBe(1);
  });
});
