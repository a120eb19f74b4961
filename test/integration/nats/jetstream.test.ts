import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Bus, type ConsumerOptions, type Delivery, consumeEvent } from '#libs/infrastructure/nats';
import { waitFor } from '#libs/product/testing';
import { connect, library, openBroker } from './parties.ts';

describe('durable messages (architecture#jobs, architecture#webhooks)', () => {
  const broker = openBroker();
  let first: Bus;
  let second: Bus;

  beforeAll(async () => {
    [first, second] = await Promise.all([connect(broker, 'first'), connect(broker, 'second')]);
    await Promise.all([first.ensureStreams(), second.ensureStreams()]);
  });
  afterAll(async () => {
    await first.deleteStreams();
    await Promise.all([first.close(), second.close()]);
  });

  const options = (name: string, more: Partial<ConsumerOptions> = {}): ConsumerOptions => ({
    stream: 'JOBS',
    durable: name,
    filter: `jobs.${name}.>`,
    concurrency: 4,
    ...more,
  });
  const text = (delivery: Delivery): string => Buffer.from(delivery.data).toString('utf8');

  it('stores a message once when it is published twice with the same message id', async () => {
    const publish = (): Promise<{ duplicate: boolean }> =>
      first.publishDurable('jobs.twice.a', 'x', { msgId: 'twice-1' });
    await expect(publish()).resolves.toEqual({ duplicate: false });
    await expect(publish()).resolves.toEqual({ duplicate: true });
    const seen: string[] = [];
    const consumer = await second.consume(options('twice'), async (delivery) => {
      seen.push(text(delivery));
      delivery.ack();
    });
    await waitFor(() => seen.length > 0);
    await sleep(100);
    expect(seen).toEqual(['x']);
    await consumer.stop();
  });

  it('delivers a message with subject, headers, attempt and bytes, and deletes it when acknowledged', async () => {
    await first.publishDurable('jobs.facts.import', '{"a":1}', { msgId: 'facts-1', headers: { 'Request-Id': 'r-9' } });
    let seen: unknown;
    const consumer = await first.consume(options('facts'), async (delivery) => {
      seen = [delivery.subject, delivery.header('Request-Id'), delivery.attempt, text(delivery)];
      delivery.ack();
    });
    await waitFor(() => seen !== undefined);
    expect(seen).toEqual(['jobs.facts.import', 'r-9', 1, '{"a":1}']);
    await waitFor(async () => (await first.consumerLag('JOBS', 'facts')).ackPending === 0);
    await consumer.stop();
  });

  it('delivers each message of a durable consumer to one of its processes', async () => {
    const seen: string[] = [];
    const handler = async (delivery: Delivery): Promise<void> => {
      await sleep(2);
      seen.push(text(delivery));
      delivery.ack();
    };
    const consumers = await Promise.all([
      first.consume(options('shared'), handler),
      second.consume(options('shared'), handler),
    ]);
    await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        first.publishDurable('jobs.shared.x', String(index), { msgId: `shared-${index}` }),
      ),
    );
    await waitFor(() => seen.length === 200);
    expect(new Set(seen).size).toBe(200);
    await Promise.all(consumers.map((consumer) => consumer.stop()));
  });

  it('processes only as many messages concurrently as the consumer allows', async () => {
    let running = 0;
    let most = 0;
    let done = 0;
    const all = Promise.withResolvers<void>();
    const consumer = await first.consume(options('hands', { concurrency: 3 }), async (delivery) => {
      most = Math.max(most, ++running);
      if (running === 3) all.resolve();
      await all.promise;
      await sleep(20);
      running--;
      done++;
      delivery.ack();
    });
    await Promise.all(
      Array.from({ length: 30 }, (_, n) => first.publishDurable('jobs.hands.x', 'x', { msgId: `hands-${n}` })),
    );
    await waitFor(() => done === 30);
    expect(most).toBe(3);
    await consumer.stop();
  });

  it('redelivers a message after the delay of its nak, and never after term', async () => {
    const attempts: [string, number, number][] = [];
    const consumer = await first.consume(options('again'), async (delivery) => {
      attempts.push([text(delivery), delivery.attempt, performance.now()]);
      if (text(delivery) === 'bad') delivery.term('poison');
      else if (delivery.attempt < 3) delivery.nak(150);
      else delivery.ack();
    });
    await first.publishDurable('jobs.again.x', 'good', { msgId: 'again-1' });
    await first.publishDurable('jobs.again.x', 'bad', { msgId: 'again-2' });
    await waitFor(() => attempts.length === 4);
    const good = attempts.filter(([body]) => body === 'good');
    expect(good.map(([, attempt]) => attempt)).toEqual([1, 2, 3]);
    expect((good[1]?.[2] ?? 0) - (good[0]?.[2] ?? 0)).toBeGreaterThan(140);
    await sleep(200);
    expect(attempts).toHaveLength(4);
    await consumer.stop();
  });

  it('redelivers a message when its lease expires, unless `working` renews the lease', async () => {
    const attempts: Record<string, number> = {};
    const holdLease = async (delivery: Delivery): Promise<void> => {
      while (attempts['silent'] !== 2) {
        await sleep(200);
        delivery.working();
      }
    };
    const consumer = await first.consume(options('lease', { ackWaitMs: 2_000 }), async (delivery) => {
      const name = text(delivery);
      attempts[name] = delivery.attempt;
      if (name === 'silent' && delivery.attempt === 1) return;
      if (name === 'alive') await holdLease(delivery);
      delivery.ack();
    });
    await first.publishDurable('jobs.lease.x', 'silent', { msgId: 'lease-1' });
    await first.publishDurable('jobs.lease.x', 'alive', { msgId: 'lease-2' });
    await waitFor(() => attempts['silent'] === 2);
    await consumer.stop();
    expect(attempts['alive']).toBe(1);
  });

  it('redelivers a message whose handler failed', async () => {
    const attempts: number[] = [];
    const consumer = await first.consume(options('failing', { ackWaitMs: 1_000 }), async (delivery) => {
      attempts.push(delivery.attempt);
      if (delivery.attempt === 1) throw new Error('handler fault');
      delivery.ack();
    });
    await first.publishDurable('jobs.failing.x', 'x', { msgId: 'failing-1' });
    await waitFor(() => attempts.length === 2);
    expect(attempts).toEqual([1, 2]);
    await consumer.stop();
  });

  it('does not redeliver a message that is not an event or violates its contract', async () => {
    const follower = { stream: 'EVENTS', durable: 'follower', filter: 'events.library.book.changed' } as const;
    const seen: number[] = [];
    const follow = async ({ id }: { id: number }): Promise<void> => void seen.push(id);
    const consumer = await consumeEvent(
      { bus: second, logger: broker.logger },
      follower,
      library.events.bookChanged,
      follow,
    );
    for (const [index, body] of ['', '{"id":', '{"id":"text"}', '{"id":7}'].entries())
      await first.publishDurable(follower.filter, body, { msgId: `followed-${index}` });
    await waitFor(async () => {
      const { pending, ackPending } = await first.consumerLag('EVENTS', 'follower');
      return seen.length > 0 && pending + ackPending === 0;
    });
    expect(seen).toEqual([7]);
    await consumer.stop();
  });

  it('finishes messages in progress when a consumer stops, and does not start pending ones', async () => {
    const done: string[] = [];
    let begun = 0;
    const released = Promise.withResolvers<void>();
    await Promise.all(
      Array.from({ length: 6 }, (_, n) => first.publishDurable('jobs.stop.x', String(n), { msgId: `stop-${n}` })),
    );
    const slow = await first.consume(options('stop', { concurrency: 2 }), async (delivery) => {
      begun++;
      await released.promise;
      done.push(text(delivery));
      delivery.ack();
    });
    await waitFor(() => begun === 2);
    const stopped = slow.stop();
    released.resolve();
    await stopped;
    expect(done).toHaveLength(2);
    const rest = await second.consume(options('stop', { concurrency: 2 }), async (delivery) => {
      done.push(text(delivery));
      delivery.ack();
    });
    await waitFor(() => done.length === 6);
    expect(new Set(done).size).toBe(6);
    await rest.stop();
  });

  it('counts the pending messages of a consumer', async () => {
    const consumer = await first.consume(options('lag'), async (delivery) => delivery.ack());
    await consumer.stop();
    await first.publishDurable('jobs.lag.x', 'x', { msgId: 'lag-1' });
    await expect(first.consumerLag('JOBS', 'lag')).resolves.toEqual({
      pending: 1,
      ackPending: 0,
      redelivered: 0,
      settledUpTo: expect.any(Number),
    });
    expect((await first.streamSize('JOBS')).messages).toBeGreaterThan(0);
  });
});
