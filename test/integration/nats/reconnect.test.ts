import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connect, createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AppError } from '#libs/infrastructure/errors';
import { createLogger } from '#libs/infrastructure/logger';
import { type Bus, connectBus, jsonStream } from '#libs/infrastructure/nats';
import { waitFor } from '#libs/product/testing';
import { provideGoTool } from '../../../libs/product/servers/go-tool.ts';
import { natsServerTool } from '../../../libs/product/servers/go-tools.ts';
import { type NatsServer, startNats } from '../../../libs/product/servers/nats.ts';
import { context, handlers, library } from './parties.ts';

const { getBook, listBooks } = library.rpcs;

describe('a restart of the broker (rules/http#overload; rules/operations#promises)', () => {
  let dataDir: string;
  let server: NatsServer;
  let port: number;
  let caller: Bus;
  let responder: Bus;
  const logger = createLogger({ service: 'test', level: 'fatal' });
  const worked: string[] = [];
  let reconnections = 0;
  let release = (): void => undefined;
  const stuck = new Promise<void>((resolve) => (release = resolve));

  const start = async (givenPort?: number): Promise<NatsServer> =>
    startNats({
      program: await provideGoTool(natsServerTool, () => {}),
      dataDir,
      logFile: join(dataDir, 'nats.log'),
      durable: false,
      ...(givenPort === undefined ? {} : { port: givenPort }),
    });

  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'coherence-nats-'));
    server = await start();
    port = Number(new URL(server.url).port);
    [caller, responder] = await Promise.all([
      connectBus({ url: server.url, name: 'caller', logger }),
      connectBus({ url: server.url, name: 'responder', logger }),
    ]);
    await caller.ensureStreams();
    await responder.serve(
      library,
      handlers({
        getBook: async (request) => {
          if (request.id === 2) await stuck;
          return { id: request.id, title: 'here' };
        },
        listBooks: async () => jsonStream(endless()),
      }),
    );
    await responder.consume({ stream: 'JOBS', durable: 'w', filter: 'jobs.w.>', concurrency: 2 }, async (delivery) => {
      worked.push(Buffer.from(delivery.data).toString('utf8'));
      delivery.ack();
    });
    caller.onReconnect(() => reconnections++);
  });
  afterAll(async () => {
    release();
    await Promise.all([caller.close(), responder.close()]);
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  });

  async function* endless(): AsyncGenerator<string> {
    for (;;) {
      yield 'x'.repeat(100_000);
      await sleep(1);
    }
  }
  const codeOf = (promise: Promise<unknown>): Promise<string> =>
    promise.then(
      () => 'ok',
      (error: AppError) => error.code,
    );

  it('fails waiting calls at a restart of the broker and new calls during it, and then recovers calls, consumers and durable messages', async () => {
    await caller.publishDurable('jobs.w.x', 'before', { msgId: 'before' });
    await waitFor(() => worked.includes('before'));
    const reply = await caller.callRaw(listBooks, { count: 1 }, context());
    const reading = codeOf(
      (async () => {
        if (reply.kind === 'stream') for await (const chunk of reply.chunks) if (chunk.length === 0) break;
      })(),
    );
    const waiting = codeOf(caller.call(getBook, { id: 2 }, { ...context(), deadlineMs: Date.now() + 60_000 }));
    await sleep(100);

    await server.stop();
    await expect(waiting).resolves.toBe('unavailable');
    await expect(reading).resolves.toBe('unavailable');
    // Returns the error code, or `waits` if the promise does not settle immediately.
    const atOnce = (promise: Promise<unknown>): Promise<string> =>
      Promise.race([codeOf(promise), new Promise<string>((resolve) => setImmediate(() => resolve('waits')))]);
    await expect(atOnce(caller.call(getBook, { id: 1 }, context()))).resolves.toBe('unavailable');
    await expect(atOnce(caller.publishDurable('jobs.w.x', 'x', { msgId: 'x' }))).resolves.toBe('unavailable');
    await expect(atOnce(caller.ping())).resolves.toBe('unavailable');
    expect(caller.connected).toBe(false);

    server = await start(port);
    await waitFor(async () => (await caller.call(getBook, { id: 1 }, context())).title === 'here');
    await waitFor(() => caller.publishDurable('jobs.w.x', 'after', { msgId: 'after' }));
    await waitFor(() => worked.includes('after'));
    expect(reconnections).toBe(1);
  });

  it("reports the broker's limit when its maximum message size is too small", async () => {
    const wanted = 9 * 1024 * 1024;
    await expect(connectBus({ url: server.url, name: 'gateway', logger, minPayloadBytes: wanted })).rejects.toThrow(
      `accepts messages of ${8 * 1024 * 1024} bytes; ${wanted} are needed. Set "max_payload: ${wanted}"`,
    );
  });

  it('rejects publishing while the streams are missing, with the command that creates them, and can wait for them', async () => {
    await caller.deleteStreams();
    await expect(caller.publishDurable('webhooks.conversations.bookings', 'x', { msgId: 'first' })).rejects.toThrow(
      /run tools\/streams\.ts/,
    );
    const waiting = caller.waitForStreams();
    await responder.ensureStreams();
    await waiting;
    await expect(caller.publishDurable('webhooks.conversations.bookings', 'x', { msgId: 'first' })).resolves.toEqual({
      duplicate: false,
    });
  });

  it('recreates its consumers after the broker lost its files and the set-up job recreated the streams', async () => {
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
    server = await start(port);
    await waitFor(() => caller.ensureStreams().then(() => true));
    await waitFor(() => caller.publishDurable('jobs.w.x', 'anew', { msgId: 'anew' }));
    await waitFor(() => worked.includes('anew'));
    expect(worked.filter((body) => body === 'anew')).toHaveLength(1);
  });

  it('retries requests that a busy broker does not answer while a service starts', async () => {
    let unanswered = 0;
    const between = createServer((client) => {
      const broker = connect(port, '127.0.0.1');
      broker.pipe(client);
      client.on('data', (chunk) => {
        if (chunk.includes('$JS.API.CONSUMER.') && unanswered === 0) unanswered++;
        else broker.write(chunk);
      });
      client.on('close', () => broker.destroy());
    }).listen(0, '127.0.0.1');
    await once(between, 'listening');
    const url = `nats://127.0.0.1:${(between.address() as AddressInfo).port}`;
    const bus = await connectBus({ url, name: 'caller', logger });
    await bus.ensureStreams(); // The first request also subscribes the reply inbox, so the test must lose a later request.
    const late: string[] = [];
    await bus.consume({ stream: 'JOBS', durable: 'late', filter: 'jobs.late.>', concurrency: 1 }, async (delivery) => {
      late.push(Buffer.from(delivery.data).toString('utf8'));
      delivery.ack();
    });
    expect(unanswered).toBe(1);
    await bus.publishDurable('jobs.late.x', 'told', { msgId: 'told' });
    await waitFor(() => late.includes('told'));
    await bus.close();
    between.close();
  });
});
