/** Webhooks from the stream are written as receipts (architecture#webhooks; D20). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Static, Type } from '#libs/infrastructure/contract';
import { unavailable } from '#libs/infrastructure/errors';
import { createLogger } from '#libs/infrastructure/logger';
import type { Bus, RunningConsumer } from '#libs/infrastructure/nats';
import { packWebhooks, startReceiptIntake, type Webhook } from '#libs/product/webhooks';
import { waitFor } from '#libs/product/testing';
import { connect, openBroker } from './parties.ts';

const Facts = Type.Object({ id: Type.String(), person_id: Type.String({ pattern: '^[0-9]+$' }) });
const webhook = (id: string, person = '7'): Webhook => ({
  facts: { id, person_id: person },
  body: Buffer.from(`body of ${id}`),
});

describe('startReceiptIntake stores webhooks of a NATS message', () => {
  const broker = openBroker();
  const logger = createLogger({ service: 'test', level: 'silent' });
  let bus: Bus;

  beforeAll(async () => {
    bus = await connect(broker, 'receipts');
    await bus.ensureStreams();
  });
  afterAll(async () => {
    await bus.deleteStreams();
    await bus.close();
  });

  const start = (name: string, store: (id: string) => void): Promise<RunningConsumer> =>
    startReceiptIntake({
      bus,
      logger,
      consumer: { stream: 'WEBHOOKS', durable: name, filter: `webhooks.${name}` },
      facts: Facts,
      store: async (facts: Static<typeof Facts>, { body }) => {
        expect(body?.toString()).toBe(`body of ${facts.id}`);
        store(facts.id);
      },
    });
  const send = (name: string, bytes: Uint8Array) =>
    bus.publishDurable(`webhooks.${name}`, bytes, { msgId: `${name}-1` });
  const isSettled = async (name: string): Promise<boolean> => {
    const { pending, ackPending } = await bus.consumerLag('WEBHOOKS', name);
    return pending + ackPending === 0;
  };

  it('stores all webhooks of a message in order, and then acknowledges the message', async () => {
    const stored: string[] = [];
    const consumer = await start('all', (id) => stored.push(id));
    await send('all', packWebhooks(['a', 'b', 'c'].map((id) => webhook(id))));
    await waitFor(() => isSettled('all'));
    expect(stored).toEqual(['a', 'b', 'c']);
    await consumer.stop();
  });

  it('stores the other webhooks of a message when one fails, and retries the message', async () => {
    const tried: string[] = [];
    const consumer = await start('odd', (id) => {
      tried.push(id);
      if (tried.length < 6 && id === 'b') throw new Error('a value that the database refuses');
    });
    await send('odd', packWebhooks(['a', 'b', 'c'].map((id) => webhook(id))));
    await waitFor(() => isSettled('odd'));
    expect(tried).toEqual(['a', 'b', 'c', 'a', 'b', 'c', 'a', 'b', 'c']);
    await consumer.stop();
  });

  it('stops at the first webhook of a message while the database is unavailable, and retries the message', async () => {
    const tried: string[] = [];
    const consumer = await start('away', (id) => {
      tried.push(id);
      if (tried.length === 1) throw unavailable('The database is not available');
    });
    await send('away', packWebhooks(['a', 'b'].map((id) => webhook(id))));
    await waitFor(() => isSettled('away'));
    expect(tried).toEqual(['a', 'a', 'b']);
    await consumer.stop();
  });

  it('skips webhooks that violate the contract, and does not retry a message that cannot be parsed', async () => {
    const stored: string[] = [];
    const consumer = await start('broken', (id) => stored.push(id));
    await send('broken', packWebhooks([webhook('a', 'no number'), webhook('b')]));
    await bus.publishDurable('webhooks.broken', 'no message', { msgId: 'broken-2' });
    await waitFor(() => isSettled('broken'));
    expect(stored).toEqual(['b']);
    await consumer.stop();
  });
});
