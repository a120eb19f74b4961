import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestEnvironment, type TestEnvironment, waitFor } from '#libs/product/testing';
import { migrateShop, openReplica, type Replica, shop } from './fixture.ts';

describe('events through the outbox (architecture#events)', () => {
  let env: TestEnvironment;
  let replicas: Replica[];
  const heard: number[] = [];

  beforeAll(async () => {
    env = await createTestEnvironment(import.meta.url);
    await migrateShop(env.settings['DATABASE_URL'] ?? '', env);
    replicas = [await openReplica(env), await openReplica(env)];
    replicas[1]?.bus.subscribeEvent(shop.events.sold, ({ n }) => void heard.push(n));
    await replicas[1]?.bus.ping();
  });
  afterAll(async () => {
    await Promise.all(replicas.map((replica) => replica.stop()));
    await env.stop();
  });

  const emit = async (n: number, replica = replicas[0]): Promise<void> => {
    await replica?.jobs.transaction((tx) => replica.jobs.emit(tx, shop.events.sold, { n }, { requestId: `r-${n}` }));
  };

  it('publishes events before the transaction call returns', async () => {
    await emit(1);
    const { messages } = (await replicas[0]?.bus.streamSize('EVENTS')) ?? { messages: 0 };
    expect(messages).toBe(1);
    await waitFor(() => heard.includes(1));
  });

  it('publishes no events of a failed transaction', async () => {
    const failed = replicas[0]?.jobs.transaction(async (tx) => {
      await replicas[0]?.jobs.emit(tx, shop.events.sold, { n: 2 });
      throw new Error('no');
    });
    await expect(failed).rejects.toThrow('no');
    await emit(3);
    await waitFor(() => heard.includes(3));
    expect(heard).not.toContain(2);
  });

  it('publishes events in the order of their transactions, and removes them from the outbox', async () => {
    heard.length = 0;
    for (let n = 100; n < 160; n++) await emit(n, replicas[n % 2]);
    await waitFor(() => heard.length >= 60);
    expect(heard).toEqual(Array.from({ length: 60 }, (_, index) => 100 + index));
    await waitFor(async () => (await env.sql('select 1 from shop.outbox')).length === 0);
  });

  it('publishes new events after older events that are still in the outbox', async () => {
    heard.length = 0;
    const body = JSON.stringify({ n: 200 });
    await env.sql(
      `insert into shop.outbox (message_id, kind, subject, body, send_after) values (gen_random_uuid(), 'event', 'events.shop.thing.sold', $1, now() + interval '400 milliseconds')`,
      [body],
    );
    await emit(201);
    await emit(202, replicas[1]);
    expect(heard).toEqual([]);
    await waitFor(() => heard.length === 3);
    expect(heard).toEqual([200, 201, 202]);
  });

  it('delivers an event to every replica', async () => {
    const also: number[] = [];
    const end = replicas[0]?.bus.subscribeEvent(shop.events.sold, ({ n }) => void also.push(n));
    await replicas[0]?.bus.ping();
    await emit(300, replicas[1]);
    await waitFor(() => also.length > 0 && heard.includes(300));
    end?.();
    expect(also).toEqual([300]);
  });

  it('rejects an event payload that violates the contract', async () => {
    await expect(emit('x' as unknown as number)).rejects.toThrow(
      'payload of events.shop.thing.sold breaks its declaration at /n: must be integer',
    );
  });
});
