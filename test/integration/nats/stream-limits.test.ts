/** Stream size limits (docs/adr/stream-limits.md) on the real broker. */
import { jetstreamManager } from '@nats-io/jetstream';
import { connect as connectToServer, type NatsConnection } from '@nats-io/transport-node';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Bus, StreamName } from '#libs/infrastructure/nats';
import { waitFor } from '#libs/product/testing';
import { type Broker, connect, openBroker } from './parties.ts';

const kibibyte = 1024;
const limit = 64 * kibibyte;
const limits = { JOBS: limit, EVENTS: limit, FEED: limit, WEBHOOKS: limit };
/** A few of these messages fill a stream. */
const message = Buffer.alloc(10 * kibibyte, 'x');

let broker: Broker;
let bus: Bus;
beforeEach(async () => {
  broker = openBroker();
  bus = await connect(broker, 'limits');
});
afterEach(async () => {
  await bus.deleteStreams();
  await bus.close();
});

const publish = (subject: string, n: number) => bus.publishDurable(subject, message, { msgId: `${subject}-${n}` });

/** Publishes until the stream rejects a message. @returns the number of stored messages, and the error */
async function fill(subject: string): Promise<{ count: number; error: Error }> {
  for (let count = 0; count < 20; count++) {
    try {
      await publish(subject, count);
    } catch (error) {
      return { count, error: error as Error };
    }
  }
  throw new Error(`${subject} took 20 messages`);
}

async function drain(stream: StreamName, filter: string): Promise<number> {
  let count = 0;
  const consumer = await bus.consume({ stream, durable: 'drain', filter, concurrency: 4 }, (delivery) => {
    count++;
    delivery.ack();
    return Promise.resolve();
  });
  await waitFor(async () => (await bus.streamSize(stream)).messages === 0);
  await consumer.stop();
  return count;
}

describe('a stream at its size limit', () => {
  it.each([
    ['JOBS', 'jobs.shop.sell'],
    ['WEBHOOKS', 'webhooks.shop.orders'],
  ] as const)(
    'rejects new messages of %s while the stream is full, and accepts messages again after stored ones are processed',
    async (stream, subject) => {
      await bus.ensureStreams(limits);
      const { count, error } = await fill(subject);
      expect([count, error.message]).toEqual([6, 'The message broker refused the message: its stream is full']);
      const { bytes, maxBytes } = await bus.streamSize(stream);
      expect([bytes <= limit, maxBytes]).toEqual([true, limit]);
      expect(await drain(stream, subject)).toBe(count);
      await expect(publish(subject, count)).resolves.toEqual({ duplicate: false });
    },
  );

  it('accepts every new event in a full stream, and drops the oldest ones', async () => {
    await bus.ensureStreams(limits);
    for (let n = 0; n < 20; n++) await publish('events.shop.orders.sold', n);
    const { messages, bytes } = await bus.streamSize('EVENTS');
    expect([messages, bytes <= limit]).toEqual([6, true]);
  });
});

describe('the set-up of streams', () => {
  let raw: NatsConnection;
  beforeEach(async () => {
    const { host, username, password } = new URL(broker.url);
    raw = await connectToServer({ servers: host, user: username, pass: password });
  });
  afterEach(() => raw.close());

  it("limits the size of an earlier release's streams without losing their messages", async () => {
    const manager = await jetstreamManager(raw);
    for (const [name, retention] of [
      ['JOBS', 'workqueue'],
      ['EVENTS', 'limits'],
      ['WEBHOOKS', 'workqueue'],
    ] as const) {
      const subjects = [`${broker.prefix}.${name.toLowerCase()}.>`];
      await manager.streams.add({
        name: `${broker.prefix}_${name}`,
        subjects,
        retention,
        storage: 'file',
        discard: 'new',
      });
    }
    for (const subject of ['jobs.shop.sell', 'webhooks.shop.orders'])
      for (let n = 0; n < 10; n++) await publish(subject, n);
    await bus.ensureStreams(limits);
    for (const [stream, subject] of [
      ['JOBS', 'jobs.shop.sell'],
      ['WEBHOOKS', 'webhooks.shop.orders'],
    ] as const) {
      expect(await bus.streamSize(stream)).toMatchObject({ messages: 10, maxBytes: limit });
      await expect(publish(subject, 10)).rejects.toThrow('its stream is full');
      expect(await drain(stream, subject)).toBe(10);
    }
    for (let n = 0; n < 20; n++) await publish('events.shop.orders.sold', n);
    expect(await bus.streamSize('EVENTS')).toMatchObject({ messages: 6, maxBytes: limit });
  });

  it('changes no stream when it is repeated, and applies a changed limit', async () => {
    await bus.ensureStreams(limits);
    const manager = await jetstreamManager(raw);
    const read = async () => (await manager.streams.info(`${broker.prefix}_WEBHOOKS`)).config;
    const before = await read();
    await bus.ensureStreams(limits);
    expect(await read()).toEqual(before);
    await bus.ensureStreams({ ...limits, WEBHOOKS: 2 * limit });
    expect(await read()).toEqual({ ...before, max_bytes: 2 * limit });
  });

  it("names the setting that exceeds the broker's limits", async () => {
    await expect(bus.ensureStreams({ ...limits, WEBHOOKS: 1024 ** 5 })).rejects.toThrow(
      /no room for the 1125899906842624 bytes of stream WEBHOOKS.*max_file_store.*NATS_STREAM_WEBHOOKS_MAX_BYTES/s,
    );
  });
});
