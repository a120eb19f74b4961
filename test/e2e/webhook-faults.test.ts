/**
 * Receivers that fail, hang, redirect and drop connections, and a killed service: every event is delivered, each
 * repetition with the same id (V6, V7).
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import {
  conversationJourney,
  type ReceiverAnswer,
  startWebhookReceiver,
  waitFor,
  type WebhookReceiver,
} from '#libs/product/testing';
import { startTestPlatform, type TestPlatform } from './test-platform.ts';

const count = 40;
let platform: TestPlatform;
let receiver: WebhookReceiver;
let token: string;
let personId: number;
beforeAll(async () => {
  receiver = await startWebhookReceiver();
  platform = await startTestPlatform(
    import.meta.url,
    { WEBHOOK_ALLOWED_HOSTS: `127.0.0.1:${receiver.port}` },
    { services: ['api-gateway', 'directory', 'conversations', 'events'], processes: ['events'] },
  );
  const { ids } = await platform.apply({
    classes: [{ slug: 'event', label: 'Event', conversation_event: true }],
    journeys: [conversationJourney('circle')],
    holons: [{ slug: 'spring', name: 'Spring', class: 'event', journeys: ['circle'] }],
    people: [{ key: 'root', name: 'Root' }],
    accounts: [{ email: 'root@example.org', person: 'root', password: 'secret-of-root-1', superuser: true }],
  });
  personId = ids['people']?.['root'] ?? 0;
  token = await platform.login('root@example.org', 'secret-of-root-1');
});
afterAll(async () => {
  await receiver.stop(); // first, because stopping waits for deliveries to a hanging receiver
  await platform.stop();
});

interface Made {
  readonly id: number;
  readonly path: string;
  readonly secret: string;
}

async function create(path: string): Promise<Made> {
  const { json } = await platform.call('POST', '/api/v1/webhook-endpoints', {
    token,
    json: { url: receiver.url(path), types: ['conversation.created'] },
  });
  return { id: json.endpoint.id, path, secret: json.secret };
}

async function converse(day: number): Promise<void> {
  const time = new Date(Date.UTC(2029, 0, 1) - day * 86_400_000).toISOString();
  const { status, text } = await platform.call(
    'GET',
    `/api/coherence/conversations?person_id=${personId}&journey=circle&time=${time}`,
  );
  if (status !== 200 && status !== 201) throw new Error(text);
}

/** Failing responses: three of ten, with one request per event, so that no delivery backs off for minutes. */
const faults: readonly ReceiverAnswer[] = [500, 'redirect', 'drop'];
const mixed = (place: number): ReceiverAnswer => (place <= count && place % 10 < 3 ? (faults[place % 10] ?? 204) : 204);

async function countDelivered(made: Made): Promise<number> {
  const [row] = await platform.sql<{ count: number }>(
    `select count(*)::integer as count from events.webhook_deliveries where endpoint_id = $1 and status = 'delivered'`,
    [made.id],
  );
  return row?.count ?? 0;
}

describe('deliveries under faults (V6, V7)', () => {
  it('send each event at least once with the same webhook-id, also when the service is killed, and independently of unresponsive endpoints', async () => {
    const [healthy, faulty, hanging] = await Promise.all([create('/healthy'), create('/faulty'), create('/hanging')]);
    receiver.answer('/faulty', mixed);
    receiver.answer('/hanging', 'hang');
    for (let day = 1; day <= count / 2; day++) await converse(day);
    await waitFor(async () => (await countDelivered(healthy)) >= 5, { what: 'the first deliveries' });
    const running = platform.runtime.processes.get('events');
    running?.kill('SIGKILL');
    await running?.ended;
    for (let day = count / 2 + 1; day <= count; day++) await converse(day);
    await platform.runtime.restart('events');
    for (const made of [healthy, faulty])
      await waitFor(async () => (await countDelivered(made)) === count, {
        what: `all at ${made.path}`,
        timeoutMs: 150_000,
      });
    const told = (await platform.call('GET', '/api/v1/events?types=conversation.created&limit=500', { token })).json
      .items as {
      id: string;
    }[];
    const wanted = told.map(({ id }) => id).toSorted();
    expect(wanted).toHaveLength(count);
    for (const made of [healthy, faulty]) {
      const got = receiver.received.filter(({ path }) => path === made.path);
      for (const { body, headers, id } of got) {
        const event = new Webhook(made.secret).verify(body, headers as Record<string, string>) as { id: string };
        expect(event.id).toBe(id);
      }
      expect([...new Set(got.map(({ id }) => id))].toSorted()).toEqual(wanted);
    }
    expect(receiver.received.filter(({ path }) => path === '/faulty').length).toBeGreaterThan(count);
    expect(await countDelivered(hanging)).toBe(0);
    expect(receiver.maxOpen('/hanging')).toBeLessThanOrEqual(8);
  }, 400_000);
});

describe('endpoint whose dispatcher died with the lease (V7)', () => {
  it('receives the events of the interruption from another dispatcher', async () => {
    const { id, path } = await create('/held');
    const set = (text: string): Promise<unknown> =>
      platform.sql(`update events.webhook_dispatches set ${text} where endpoint_id = $1`, [id]);
    await platform.sql(
      `insert into events.webhook_dispatches (endpoint_id, holder, held_until) values ($1, gen_random_uuid(), now() + interval '10 minutes')`,
      [id],
    );
    await converse(1_000);
    const isScheduled = async (): Promise<boolean> =>
      (
        await platform.sql('select 1 from events.webhook_dispatches where endpoint_id = $1 and due_at is not null', [
          id,
        ])
      ).length > 0;
    await waitFor(isScheduled, { what: 'the endpoint to be scheduled' });
    const come = () => receiver.received.filter((item) => item.path === path);
    expect(come()).toEqual([]);
    // An endpoint without a due time is also dispatched once its lease has expired.
    await set(`due_at = null, held_until = now() - interval '1 second'`);
    await waitFor(() => come().length > 0, { what: 'the event' });
    expect(come().map(({ body }) => (JSON.parse(body) as { type: string }).type)).toEqual(['conversation.created']);
  });
});
