/**
 * Webhook intake before, during and after an outage of the broker (rules/bookings#booking-webhook; D19a, D20, D33d).
 */
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { generateActorKeys } from '#libs/infrastructure/actor';
import { createLogger } from '#libs/infrastructure/logger';
import { type Bus, connectBus } from '#libs/infrastructure/nats';
import { packWebhooks, unpackWebhooks, type Webhook } from '#libs/product/webhooks';
import { compileSchema } from '#libs/infrastructure/schema';
import { waitFor } from '#libs/product/testing';
import { BookingWebhook, bookingWebhookSubject, meetingWebhookSubject } from '#services/conversations';
import { loadGatewayConfig } from '../../../services/api-gateway/config.ts';
import { createService } from '../../../services/api-gateway/service.ts';
import { provideGoTool } from '../../../libs/product/servers/go-tool.ts';
import { natsServerTool } from '../../../libs/product/servers/go-tools.ts';
import { type NatsServer, startNats } from '../../../libs/product/servers/nats.ts';
import { createCall, type Call, type Reply } from './fixture.ts';

const logged: string[] = [];
const logger = createLogger({
  service: 'test',
  level: 'warn',
  destination: { write: (line) => void logged.push(line) },
});
let dir: string;
let server: NatsServer;
let bus: Bus;
let gateway: Awaited<ReturnType<typeof createService>>;
let call: (method: string, path: string, call?: Call) => Promise<Reply>;
/** Webhooks of the booking provider. */
const received: Webhook[] = [];
/** Webhooks of the meeting provider. */
const meetings: Webhook[] = [];
/** The number of webhooks in each message that contains the booking provider's webhooks. */
const bundles: number[] = [];
const check = compileSchema(BookingWebhook);

const startBroker = async (port?: number): Promise<NatsServer> =>
  startNats({
    program: await provideGoTool(natsServerTool, () => undefined),
    dataDir: join(dir, 'nats'),
    logFile: join(dir, 'nats.log'),
    durable: true,
    ...(port === undefined ? {} : { port }),
  });
const config = (overrides: Record<string, string> = {}) =>
  loadGatewayConfig({
    NATS_URL: server.url,
    PORT: '0',
    METRICS_PORT: '0',
    ACTOR_SIGNING_KEY: generateActorKeys().signingKey,
    API_TOKEN: 't',
    API_LOGIN_SECRET: 'g',
    WEBHOOK_SPOOL_DIR: join(dir, 'spool'),
    ...overrides,
  });
const post = (body: string | Uint8Array, person = '7', headers: Record<string, string> = {}) =>
  call('POST', `/api/coherence/hook/booking/${person}`, { auth: null, body, headers });
const bodies = (): string[] => received.map(({ body }) => body?.toString('latin1') ?? '(none)');
const spooled = async (): Promise<string[]> =>
  (await readdir(join(dir, 'spool', 'default'))).filter((name) => name.endsWith('.webhook'));
const accepted = { status: 200, json: { ok: true } };
const leftBehind = (id: string, text: string): Buffer =>
  packWebhooks([
    { facts: { id, received_at: '2026-05-01T10:00:00Z', person_id: '7', headers: {} }, body: Buffer.from(text) },
  ]);
const spoolFile = (message: Uint8Array): Buffer => Buffer.concat([Buffer.from(`${bookingWebhookSubject}\n`), message]);

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'webhooks-'));
  server = await startBroker();
  bus = await connectBus({ url: server.url, name: 'reader', logger });
  await bus.ensureStreams();
  gateway = await createService({ config: config(), logger });
  await gateway.start();
  call = createCall(gateway.port);
  await bus.consume(
    { stream: 'WEBHOOKS', durable: 'reader', filter: bookingWebhookSubject, concurrency: 4 },
    (delivery) => {
      const webhooks = unpackWebhooks(delivery.data) ?? [];
      expect([webhooks.length > 0, webhooks.map(({ facts }) => check(facts))]).toEqual([
        true,
        webhooks.map(() => undefined),
      ]);
      received.push(...webhooks);
      bundles.push(webhooks.length);
      delivery.ack();
      return Promise.resolve();
    },
  );
  await bus.consume(
    { stream: 'WEBHOOKS', durable: 'meetings', filter: meetingWebhookSubject, concurrency: 1 },
    (delivery) => {
      meetings.push(...(unpackWebhooks(delivery.data) ?? []));
      delivery.ack();
      return Promise.resolve();
    },
  );
});
afterAll(async () => {
  await gateway.stop();
  await bus.close();
  await server.stop();
  await rm(dir, { recursive: true, force: true });
});

describe('POST /api/coherence/hook/booking/{person_id} (rules/bookings#booking-webhook; D20, D33d)', () => {
  it('stores the exact body, the original path and the relevant headers of a webhook before it responds', async () => {
    const body = Buffer.from('{"triggerEvent":"BOOKING_CREATED","n":12345678901234567890} ', 'utf8');
    const headers = {
      'content-type': 'application/json',
      'X-Cal-Signature-256': 'abc',
      'x-cal-webhook-version': '2021-10-20',
      cookie: 'secret=1',
      authorization: 'Bearer x',
    };
    expect(await post(body, '0042', headers)).toMatchObject(accepted);
    await waitFor(() => received.length === 1);
    expect(received[0]?.facts).toEqual({
      id: expect.any(String),
      received_at: expect.any(String),
      person_id: '0042',
      headers: {
        'content-type': 'application/json',
        'x-cal-signature-256': 'abc',
        'x-cal-webhook-version': '2021-10-20',
      },
    });
    expect(received[0]?.body?.equals(body)).toBe(true);
  });

  it.each([
    ['no JSON', '{', '7'],
    ['nothing', '', '7'],
    ['deep nesting', '['.repeat(100_000), '7'],
    ['U+0000', '{"a":"\\u0000"}', '7'],
    ['bytes that are no UTF-8', Buffer.from([0xff, 0x00, 0xfe]), '7'],
    ['a person that cannot be one', '{}', 'abc%00'],
    ['exactly 4 MiB', Buffer.alloc(4_194_304, 0x78), '-1'],
  ])('returns 200 for %s and stores the webhook', async (_name, body, person) => {
    const before = received.length;
    expect(await post(body, person)).toMatchObject(accepted);
    await waitFor(() => received.length === before + 1);
    expect(received.at(-1)?.body?.equals(Buffer.from(body))).toBe(true);
  });

  it('rejects a compressed body with 415 before reading it, and stores nothing (D61)', async () => {
    const before = received.length;
    const reply = await post(Buffer.from([0x1f, 0x8b, 0x00]), '7', { 'content-encoding': 'gzip' });
    expect([reply.status, reply.json]).toEqual([415, { detail: expect.any(String) }]);
    expect(await post('plain', '7', { 'content-encoding': 'identity' })).toMatchObject(accepted);
    await waitFor(() => received.length === before + 1);
    expect(bodies().at(-1)).toBe('plain');
  });

  it('returns 200 for a webhook over the body cap, and records it without the body', async () => {
    const before = received.length;
    expect(await post(Buffer.alloc(4_194_305))).toMatchObject(accepted);
    await waitFor(() => received.length === before + 1);
    expect(received.at(-1)?.body).toBeNull();
  });

  it('assigns a unique delivery id to each webhook, independent of the request id', async () => {
    const before = received.length;
    await Promise.all([post('1', '7', { 'x-request-id': 'same' }), post('1', '7', { 'x-request-id': 'same' })]);
    await waitFor(() => received.length === before + 2);
    expect(new Set(received.slice(before).map(({ facts }) => facts.id)).size).toBe(2);
  });

  it('stores concurrent webhooks in one batch, each complete and in order', async () => {
    const texts = Array.from({ length: 64 }, (_value, index) => `${index}: ${'é\n\u0000'.repeat(index)}`);
    const send = async (body: string): Promise<number> => {
      const url = `http://127.0.0.1:${gateway.port}/api/coherence/hook/booking/7`;
      const reply = await fetch(url, { method: 'POST', body });
      await reply.arrayBuffer();
      return reply.status;
    };
    // Requests on new connections arrive one by one. Later requests arrive together, so they share messages.
    await waitFor(async () => {
      const [before, messages] = [received.length, bundles.length];
      expect(new Set(await Promise.all(texts.map(send)))).toEqual(new Set([200]));
      await waitFor(() => received.length === before + texts.length);
      expect(new Set(received.slice(before).map(({ body }) => body?.toString('utf8')))).toEqual(new Set(texts));
      return bundles.length - messages < texts.length;
    });
    expect(Math.max(...bundles)).toBeLessThanOrEqual(32);
  });

  it('stores nothing of an aborted webhook request', async () => {
    const before = received.length;
    const controller = new AbortController();
    const half = new ReadableStream({
      start: (stream) => stream.enqueue(new TextEncoder().encode('{"half":')),
    });
    const sent = fetch(`http://127.0.0.1:${gateway.port}/api/coherence/hook/booking/7`, {
      method: 'POST',
      body: half,
      duplex: 'half',
      signal: controller.signal,
    });
    setTimeout(() => controller.abort(), 100);
    await expect(sent).rejects.toThrow();
    await post('after');
    await waitFor(() => received.length === before + 1);
    expect(bodies().at(-1)).toBe('after');
  });
});

describe('POST /api/hook/meetings (rules/providers#realtimekit-webhooks; D20, D33d)', () => {
  it('returns 200 for every request, and stores the exact body, signature and delivery id of the webhook', async () => {
    const body = '{"event":"recording.statusUpdate", "recording":{"fileSize":"12345678901234567890"}} ';
    const headers = {
      'content-type': 'application/json',
      'rtk-signature': 'c2lnbmVk',
      'rtk-uuid': 'delivery-1',
      authorization: 'Bearer x',
    };
    expect(await call('POST', '/api/hook/meetings', { auth: null, body, headers })).toMatchObject(accepted);
    expect(await call('POST', '/api/hook/meetings/', { auth: null, body: '{"event":' })).toMatchObject(accepted);
    await waitFor(() => meetings.length === 2);
    const [signed, broken] = meetings;
    expect(signed?.facts['headers']).toEqual({ 'rtk-signature': 'c2lnbmVk', 'rtk-uuid': 'delivery-1' });
    expect([signed?.body?.toString(), broken?.body?.toString()]).toEqual([body, '{"event":']);
  });
});

describe('broker outage and recovery (D20)', () => {
  it('spools webhooks on disk with status 200, and delivers each once and in order after the recovery', async () => {
    const port = Number(new URL(server.url).port);
    const before = received.length;
    await server.stop();
    await waitFor(() => !bus.connected);
    for (const text of ['first', 'second', 'third']) expect(await post(text)).toMatchObject(accepted);
    expect(await spooled()).toHaveLength(3);

    server = await startBroker(port);
    await waitFor(() => received.length === before + 3);
    await waitFor(async () => (await spooled()).length === 0);
    expect(bodies().slice(before).toSorted()).toEqual(['first', 'second', 'third']);
  });

  it('delivers spooled webhooks of an earlier process once, and moves unreadable ones aside', async () => {
    await gateway.stop();
    const before = received.length;
    const folder = join(dir, 'spool', 'default');
    const message = leftBehind('left-1', 'left behind');
    // The broker had already stored it when the process died.
    await bus.publishDurable(bookingWebhookSubject, message, { msgId: 'left-1' });
    await writeFile(join(folder, '1700000000000-000000-left-1.webhook'), spoolFile(message));
    await writeFile(join(folder, '1700000000000-000001-broken.webhook'), spoolFile(message.subarray(0, -1)));
    await writeFile(join(folder, '1700000000000-000002-half.webhook.part'), 'webhooks.');
    gateway = await createService({ config: config(), logger });
    await gateway.start();
    call = createCall(gateway.port);
    await waitFor(async () => (await spooled()).length === 0);
    await post('marker');
    await waitFor(() => bodies().includes('marker'));
    expect(bodies().slice(before)).toEqual(['left behind', 'marker']);
    expect((await readdir(folder)).toSorted()).toEqual([
      '1700000000000-000001-broken.webhook.bad',
      '1700000000000-000002-half.webhook.part',
    ]);
  });

  it('sends spooled webhooks before new ones, so that updates of one chat remain in order (D32)', async () => {
    await gateway.stop();
    const before = received.length;
    const texts = Array.from({ length: 40 }, (_value, index) => `waiting ${index}`);
    for (const [index, text] of texts.entries()) {
      const name = `1700000000000-${String(index).padStart(6, '0')}-x.webhook`;
      await writeFile(join(dir, 'spool', 'default', name), spoolFile(leftBehind(`waits-${index}`, text)));
    }
    gateway = await createService({ config: config(), logger });
    await gateway.start();
    call = createCall(gateway.port);
    expect(await post('later')).toMatchObject(accepted);
    await waitFor(() => bodies().includes('later'));
    expect(bodies().slice(before)).toEqual([...texts, 'later']);
  });

  it('spools webhooks while the stream is full, and delivers them when the stream accepts messages again', async () => {
    const filler = 'webhooks.agents.updates'; // of a service that is not running
    await bus.ensureStreams({ WEBHOOKS: 100_000 });
    logged.length = 0;
    for (let n = 0; n < 9; n++) await bus.publishDurable(filler, Buffer.alloc(10_000), { msgId: `filler-${n}` });
    const before = received.length;
    const texts = Array.from({ length: 5 }, (_value, n) => `${n} ${'x'.repeat(20_000)}`);
    for (const text of texts) expect(await post(text)).toMatchObject(accepted);
    expect((await spooled()).length).toBe(5);
    // Only the first webhook triggers a spool scan and a broker request, not each one.
    expect(logged.filter((line) => line.includes('cannot be drained yet'))).toHaveLength(1);
    expect((await bus.streamSize('WEBHOOKS')).bytes).toBeLessThanOrEqual(100_000);
    const worker = await bus.consume(
      { stream: 'WEBHOOKS', durable: 'filler', filter: filler, concurrency: 4 },
      (delivery) => {
        delivery.ack();
        return Promise.resolve();
      },
    );
    await waitFor(async () => (await spooled()).length === 0);
    await waitFor(() => received.length === before + 5);
    expect(bodies().slice(before)).toEqual(texts);
    await worker.stop();
    await bus.ensureStreams();
  });

  it('buffers a webhook in memory when the spool is full, and delivers it later', async () => {
    await gateway.stop();
    gateway = await createService({ config: config({ WEBHOOK_SPOOL_MAX_BYTES: '0' }), logger });
    await gateway.start();
    call = createCall(gateway.port);
    const port = Number(new URL(server.url).port);
    await server.stop();
    await waitFor(() => !bus.connected);
    expect(await post('held')).toMatchObject(accepted);
    expect(await spooled()).toEqual([]);
    server = await startBroker(port);
    await waitFor(() => bodies().includes('held'));
  });
});
