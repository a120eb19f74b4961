import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Bus, connectBus } from '#libs/infrastructure/nats';
import { createDatabase, type Database } from '#libs/infrastructure/orm';
import { createTestEnvironment, type TestEnvironment } from '#libs/product/testing';
import { conversations } from '#services/conversations';
import { directory } from '#services/directory';
import { listDatabaseUrls, listNatsUrls } from '../../../libs/product/servers/service-accounts.ts';

const services = ['agents', 'conversations', 'directory', 'events', 'media', 'transcripts'] as const;

describe('database and NATS accounts of the services (rules/operations#least-privilege)', () => {
  let env: TestEnvironment;
  let databaseUrls: Record<string, string>;
  let natsUrls: Record<string, string>;
  const open: { close(): Promise<void> }[] = [];

  beforeAll(async () => {
    env = await createTestEnvironment(import.meta.url);
    const { TEST_SERVICE_SECRET: secret = '' } = process.env;
    databaseUrls = listDatabaseUrls(env.settings['DATABASE_URL'] ?? '', secret);
    natsUrls = listNatsUrls(env.settings['NATS_URL'] ?? '', secret);
  });
  afterAll(async () => {
    for (const item of open) await item.close();
    await env.stop();
  });

  const connect = async (user: string): Promise<Bus> => {
    const url = natsUrls[`NATS_URL_${user.toUpperCase()}`] ?? '';
    const name = user === 'gateway' ? 'api-gateway' : user;
    const bus = await connectBus({ url, name, prefix: env.settings['NATS_SUBJECT_PREFIX'], logger: env.logger });
    open.push(bus);
    return bus;
  };
  const openDatabase = async (service: string): Promise<Database> => {
    const url = databaseUrls[`DATABASE_URL_${service.toUpperCase()}`] ?? '';
    const db = await createDatabase({ url, schema: service, poolSize: 1, logger: env.logger, applicationName: 'test' });
    open.push(db);
    return db;
  };

  it.each(services)('PostgreSQL: %s can read its own schema and no other', async (service) => {
    const db = await openDatabase(service);
    await expect(db.query({ name: 'own', text: `select count(*) from ${service}.migrations` })).resolves.toHaveLength(
      1,
    );
    for (const other of services) {
      if (other === service) continue;
      const foreign = db.query({ name: `of_${other}`, text: `select count(*) from ${other}.migrations` });
      await expect(foreign).rejects.toThrow(`permission denied for schema ${other}`);
    }
  });

  it('NATS: a service cannot answer calls of another service', async () => {
    const [media, caller] = [await connect('media'), await connect('conversations')];
    const context = { requestId: 'accounts', deadlineMs: Date.now() + 5_000 };
    const handlers = Object.fromEntries(
      Object.keys(directory.rpcs).map((name) => [name, () => Promise.reject(new Error('an impostor'))]),
    );
    await media.serve(directory, handlers as never);
    // The server denied the subscription: the call has no responder until the owner subscribes.
    await expect(caller.call(directory.rpcs.getPeople, { ids: [] }, context)).rejects.toMatchObject({
      code: 'unavailable',
    });
  });

  it('NATS: a service cannot read the queues of another service', async () => {
    const media = await connect('media');
    const { stream, durable, filter } = conversations.consumers.bookings;
    await expect(media.consume({ stream, durable, filter, concurrency: 1 }, () => Promise.resolve())).rejects.toThrow(
      /Permissions Violation/,
    );
    const jobs = {
      stream: 'JOBS',
      durable: 'transcripts_transcript-import',
      filter: 'jobs.transcripts.transcript-import',
      concurrency: 1,
    } as const;
    await expect(media.consume(jobs, () => Promise.resolve())).rejects.toThrow(/Permissions Violation/);
  });

  it('NATS: a service can neither create nor delete streams', async () => {
    const media = await connect('media');
    await expect(media.deleteStreams()).rejects.toThrow(/Permissions Violation/);
  });

  it('NATS: a service can call only operations that allow it as a caller', async () => {
    const [stranger, owner] = [await connect('directory'), await connect('conversations')];
    const responder = await owner.serve(
      conversations,
      Object.fromEntries(
        Object.keys(conversations.rpcs).map((name) => [name, () => Promise.resolve({ items: [] })]),
      ) as never,
    );
    const context = { requestId: 'accounts', deadlineMs: Date.now() + 1_500 };
    const request = { conversation_id: 1 };
    await expect(stranger.callRaw(conversations.rpcs.get, request, context)).rejects.toMatchObject({
      code: 'deadline_exceeded',
    }); // the request was not delivered
    const gateway = await connect('gateway');
    await expect(
      gateway.callRaw(conversations.rpcs.get, request, { ...context, deadlineMs: Date.now() + 5_000 }),
    ).resolves.toBeDefined();
    await responder.drain();
  });
});
