import { describe, expect, it } from '@jest/globals';
import { LeaseLost, PermanentJobError, RetryLater } from '#libs/infrastructure/jobs';
import type { Tx } from '#libs/infrastructure/orm';
import { waitFor } from '#libs/product/testing';
import { useShop } from './suite.ts';
import { addEffect, countEffects, readJob, redactErrors, shop } from './fixture.ts';

/** Returns the timestamp of a version 7 UUID in milliseconds. */
const uuidTimeMs = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);

describe('operators of jobs (architecture#jobs: redrive, discard, cancel)', () => {
  const suite = useShop(import.meta.url);

  it('lists and shows jobs, and redrives one dead job or all matching ones', async () => {
    let broken = true;
    const replica = await suite.start({
      handlers: {
        step: async ({ payload: { n } }) => {
          if (broken) throw new PermanentJobError(`broken ${n % 2 === 0 ? 'even' : 'odd'}`);
        },
      },
    });
    const { admin } = replica.jobs;
    const ids: string[] = [];
    for (let n = 0; n < 6; n++)
      ids.push(await replica.jobs.transaction((tx) => replica.jobs.enqueue(tx, shop.jobs.step, { n })));
    for (const id of ids) await suite.waitForState(id, 'dead');
    const { items } = JSON.parse(await admin.list({ state: 'dead', limit: 4 })) as {
      items: { id: string; created_at: string }[];
    };
    expect(items.map(({ id }) => id)).toEqual(ids.toReversed().slice(0, 4));
    const page = JSON.parse(await admin.list({ state: 'dead', limit: 4, before: items[3]?.id })) as {
      items: { id: string }[];
    };
    expect(page.items.map(({ id }) => id)).toEqual([ids[1], ids[0]]);
    expect(JSON.parse((await admin.find(ids[3] ?? '')) ?? '')).toMatchObject({
      type: 'shop.step',
      state: 'dead',
      payload: { n: 3 },
      error: 'broken odd',
    });
    await expect(admin.find('01900000-0000-7000-8000-000000000000')).resolves.toBeUndefined();

    broken = false;
    await expect(admin.redrive({ ids: [ids[0] ?? ''] })).resolves.toMatchObject({ changed: 1 });
    await expect(suite.waitForState(ids[0] ?? '', 'succeeded')).resolves.toMatchObject({ attempts: 1, error: null });
    await expect(admin.redrive({ ids: [ids[0] ?? ''] })).resolves.toMatchObject({ changed: 0 });
    await expect(admin.redrive({ type: 'shop.step', error: 'odd' })).resolves.toMatchObject({ changed: 3 });
    for (const index of [1, 3, 5]) await suite.waitForState(ids[index] ?? '', 'succeeded');
    await expect(admin.redrive({ type: 'shop.effect' })).resolves.toMatchObject({ changed: 0 });
    expect((await readJob(suite.env, ids[2] ?? ''))?.state).toBe('dead');
  });

  it('lists jobs by creation time, which is part of their id (D98)', async () => {
    const { jobs } = await suite.start();
    const enqueue = (tx: Tx, n: number) => jobs.enqueue(tx, shop.jobs.brief, { n }, { delayMs: 60_000 });
    const isOpen = Promise.withResolvers<undefined>();
    const gate = Promise.withResolvers<undefined>();
    const slow = jobs.transaction(async (tx) => {
      await tx.query({ name: 'begins', text: 'select now()' });
      isOpen.resolve(undefined);
      await gate.promise;
      return enqueue(tx, 2);
    });
    await isOpen.promise;
    const early = await jobs.transaction((tx) => enqueue(tx, 1));
    await waitFor(() => Date.now() > uuidTimeMs(early));
    gate.resolve(undefined);
    const late = await slow;
    const { items } = JSON.parse(await jobs.admin.list({ type: 'shop.brief', limit: 2 })) as {
      items: { id: string; created_at: string }[];
    };
    expect(items.map(({ id }) => id)).toEqual([late, early]);
    for (const { id, created_at: at } of items) expect(Date.parse(at)).toBe(uuidTimeMs(id));
    const bounded = async (bounds: object) =>
      (
        JSON.parse(await jobs.admin.list({ type: 'shop.brief', limit: 9, ...bounds })) as { items: { id: string }[] }
      ).items.map(({ id }) => id);
    const at = items[1]?.created_at ?? '';
    expect([await bounded({ created_before: at }), await bounded({ created_after: at })]).toEqual([[], [late, early]]);
  });

  it('redacts secrets in errors that an earlier release stored, in more than one batch', async () => {
    const replica = await suite.start({ handlers: {} });
    await suite.env.sql(
      `insert into shop.jobs (id, type, payload, state, error, finished_at)
       select ('01900000-0000-7000-9000-' || lpad(n::text, 12, '0'))::uuid, 'shop.step', '{"n": 1}', 'dead',
         case when n % 500 = 0 then 'GET https://example.org/?token=hush-' || n || ' failed' else 'The room is closed' end, now()
       from generate_series(1, 2500) n`,
    );
    const find = async (error: string) =>
      (JSON.parse(await replica.jobs.admin.list({ error, limit: 500 })) as { items: unknown[] }).items;
    expect(await find('hush-')).toHaveLength(5);
    await redactErrors(suite.env);
    expect(await find('hush-')).toEqual([]);
    expect(await find('GET https://example.org/?token=[redacted] failed')).toHaveLength(5);
    expect(
      await suite.env.sql(`select count(*)::int as kept from shop.jobs where error = 'The room is closed'`),
    ).toEqual([{ kept: 2_495 }]);
  });

  it('discards one dead job or all matching ones: keeps their error, and redrives them only by id', async () => {
    let broken = true;
    const replica = await suite.start({
      handlers: {
        step: async ({ payload: { n } }) => {
          if (broken) throw new PermanentJobError(`broken ${n % 2 === 0 ? 'even' : 'odd'}`);
        },
      },
    });
    const { admin } = replica.jobs;
    const ids: string[] = [];
    for (let n = 0; n < 4; n++)
      ids.push(await replica.jobs.transaction((tx) => replica.jobs.enqueue(tx, shop.jobs.step, { n })));
    const waiting = await replica.jobs.transaction((tx) =>
      replica.jobs.enqueue(tx, shop.jobs.effect, { n: 9 }, { delayMs: 60_000 }),
    );
    for (const id of ids) await suite.waitForState(id, 'dead');

    await expect(admin.cancel({ ids: [waiting], state: 'dead' })).resolves.toMatchObject({ changed: 0 });
    await expect(admin.cancel({ ids: [ids[0] ?? ''], state: 'dead' })).resolves.toMatchObject({ changed: 1 });
    await expect(admin.cancel({ ids: [ids[0] ?? ''], state: 'dead' })).resolves.toMatchObject({ changed: 0 });
    await expect(admin.cancel({ error: 'odd', state: 'dead' })).resolves.toMatchObject({ changed: 2 });
    await expect(readJob(suite.env, ids[1] ?? '')).resolves.toMatchObject({ state: 'cancelled', error: 'broken odd' });
    const list = (state: 'dead' | 'cancelled'): Promise<string> => admin.list({ state, limit: 9 });
    expect((JSON.parse(await list('dead')) as { items: unknown[] }).items).toMatchObject([{ id: ids[2] }]);
    expect((JSON.parse(await list('cancelled')) as { items: unknown[] }).items).toHaveLength(3);

    broken = false;
    await expect(admin.redrive({})).resolves.toMatchObject({ changed: 1 });
    await suite.waitForState(ids[2] ?? '', 'succeeded');
    await expect(readJob(suite.env, ids[3] ?? '')).resolves.toMatchObject({ state: 'cancelled' });
    await expect(admin.redrive({ ids: [ids[3] ?? ''] })).resolves.toMatchObject({ changed: 1 });
    await suite.waitForState(ids[3] ?? '', 'succeeded');
  });

  it('resets attempts and age of a job at a redrive', async () => {
    let runs = 0;
    const replica = await suite.start({
      handlers: {
        aging: async () => {
          runs++;
          throw new RetryLater('nothing', { delayMs: 40 });
        },
      },
    });
    const id = await replica.jobs.transaction((tx) => replica.jobs.enqueue(tx, shop.jobs.aging, { n: 1 }));
    await suite.waitForState(id, 'dead');
    const before = runs;
    await replica.jobs.admin.redrive({ ids: [id] });
    await waitFor(() => runs >= before + 2);
    await expect(suite.waitForState(id, 'dead')).resolves.toMatchObject({ error: 'nothing' });
  });

  it('never runs a job that is cancelled while its message is at the broker', async () => {
    const gate = Promise.withResolvers<undefined>();
    const ran = new Set<string>();
    const { jobs } = await suite.start({
      handlers: {
        step: async ({ id }) => {
          ran.add(id);
          await gate.promise;
        },
      },
    });
    const slots = shop.jobs.step.policy.concurrency;
    const ids = await jobs.transaction((tx) =>
      Promise.all(Array.from({ length: slots + 3 }, (_value, n) => jobs.enqueue(tx, shop.jobs.step, { n }))),
    );
    await waitFor(() => ran.size === slots, { what: 'workers without a free slot' });
    const held = ids.filter((id) => !ran.has(id));
    await expect(jobs.admin.cancel({ ids: held })).resolves.toMatchObject({ changed: 3 });
    const last = await jobs.transaction((tx) => jobs.enqueue(tx, shop.jobs.step, { n: 99 }));
    gate.resolve(undefined);
    for (const id of [...ran, last]) await suite.waitForState(id, 'succeeded');
    for (const id of held)
      await expect(readJob(suite.env, id)).resolves.toMatchObject({ state: 'cancelled', attempts: 0 });
    expect(held.filter((id) => ran.has(id))).toEqual([]);
  });

  it('cancels a waiting job, and aborts a running job so that it cannot complete', async () => {
    let outcome: Promise<unknown> | undefined;
    const replica = await suite.start({
      handlers: {
        step: async ({ signal, complete, id }) => {
          await new Promise((resolve) => signal.addEventListener('abort', resolve));
          outcome = complete((tx) => tx.query(addEffect, [14, id])).catch((error: unknown) => error);
          throw (await outcome) as Error;
        },
      },
    });
    const { admin } = replica.jobs;
    const waiting = await replica.jobs.transaction((tx) =>
      replica.jobs.enqueue(tx, shop.jobs.effect, { n: 15 }, { delayMs: 60_000 }),
    );
    await expect(admin.cancel({ ids: [waiting] })).resolves.toMatchObject({ changed: 1 });
    await expect(readJob(suite.env, waiting)).resolves.toMatchObject({ state: 'cancelled', error: null });
    const running = await replica.jobs.transaction((tx) => replica.jobs.enqueue(tx, shop.jobs.step, { n: 1 }));
    await suite.waitForState(running, 'running');
    await expect(admin.cancel({ ids: [running] })).resolves.toMatchObject({ changed: 1 });
    await waitFor(() => outcome !== undefined);
    expect(await outcome).toBeInstanceOf(LeaseLost);
    await expect(readJob(suite.env, running)).resolves.toMatchObject({ state: 'cancelled', error: null });
    await expect(admin.cancel({ ids: [running] })).resolves.toMatchObject({ changed: 0 });
    await expect(countEffects(suite.env, 14)).resolves.toBe(0);
  });
});
