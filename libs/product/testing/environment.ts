/**
 * Creates an environment for one test file with its own database (cloned from the migrated template), NATS prefix and
 * bucket, so that test files can run in parallel on the same servers.
 */
import { createHash, randomBytes, createHmac } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ActorSigner, generateActorKeys } from '#libs/infrastructure/actor';
import { createLogger, type Logger } from '#libs/infrastructure/logger';
import { connectBus } from '#libs/infrastructure/nats';
import { createDatabase, type Database } from '#libs/infrastructure/orm';
import { createTestActors } from './actors.ts';
import { waitFor } from './wait-for.ts';

export interface TestEnvironment {
  /** Short and unique; used e.g. in names of test objects. */
  readonly id: string;
  /** Variables for services (see architecture#configuration). */
  readonly settings: Readonly<Record<string, string>>;
  /**
   * Logger of services in this process. It is quiet, because tests cause faults on purpose; set LOG_LEVEL to change the
   * level.
   */
  readonly logger: Logger;
  /** Signs actors like the environment's gateway, for a bus or an HTTP request that the test itself creates. */
  readonly actors: ActorSigner;
  /** Runs one SQL statement in the environment's database; timestamps and JSON are returned as text. */
  sql<Row = Record<string, unknown>>(text: string, params?: readonly unknown[]): Promise<Row[]>;
  /** Registers work that runs before the environment stops, in reverse order of registration. */
  onStop(work: () => Promise<void>): void;
  stop(): Promise<void>;
}

/**
 * A long limit, which is reached only on failure: on a machine that builds and tests at the same time, connecting may
 * take seconds.
 */
const connectTimeoutMs = 60_000;

/**
 * Creates the environment of a test file. Call it in `beforeAll` with `import.meta.url`, and `stop()` in `afterAll`.
 * @throws Error when the test run has no servers
 */
export async function createTestEnvironment(fileUrl: string): Promise<TestEnvironment> {
  const id = `t${randomBytes(5).toString('hex')}`;
  const applicationName = `test ${basename(fileURLToPath(fileUrl))}`;
  const level = process.env['LOG_LEVEL'] ?? 'error';
  const logger = createLogger({ service: 'test', level: process.env['LOG_LEVEL'] ?? 'fatal' });
  const access = { logger, applicationName, connectTimeoutMs };
  const adminUrl = readAddress('TEST_DATABASE_URL');
  const admin = await createDatabase({ url: adminUrl, schema: 'public', poolSize: 1, ...access });
  const run = (db: Database, text: string, params: readonly unknown[] = []): Promise<unknown[]> =>
    db.query({ name: `q${createHash('sha256').update(text).digest('hex').slice(0, 32)}`, text }, params);
  const clone = `create database ${id} template ${readAddress('TEST_TEMPLATE_DATABASE')} strategy file_copy`;
  // Cloning files takes a third of the time of copying through the log, and a ninth where the file system supports
  // clones.
  await run(admin, 'set file_copy_method = clone')
    .then(() => run(admin, clone))
    .catch(() => run(admin, 'reset all').then(() => run(admin, clone)));

  const bus = await connectBus({ url: readAddress('TEST_NATS_URL'), name: 'set-up', prefix: id, logger });
  await waitFor(() => bus.ensureStreams().then(() => true), { timeoutMs: connectTimeoutMs, what: 'the streams' });

  const url = new URL(adminUrl);
  url.pathname = `/${id}`;
  const database = await createDatabase({ url: url.href, schema: 'public', poolSize: 4, ...access });
  const spoolDir = await mkdtemp(join(tmpdir(), `coherence-${id}-`));
  const keys = generateActorKeys();
  const cleanUps: (() => Promise<void>)[] = [];
  return {
    id,
    logger,
    actors: createTestActors(keys),
    settings: {
      DATABASE_URL: url.href,
      DATABASE_POOL_SIZE: '5',
      NATS_URL: readAddress('TEST_NATS_URL'),
      NATS_SUBJECT_PREFIX: id,
      CHECK_REPLIES: 'true',
      S3_ENDPOINT: readAddress('TEST_S3_ENDPOINT'),
      S3_REGION: 'us-east-1',
      S3_BUCKET: `coherence-${id}`,
      S3_ACCESS_KEY_ID: readAddress('TEST_S3_ACCESS_KEY_ID'),
      S3_SECRET_ACCESS_KEY: readAddress('TEST_S3_SECRET_ACCESS_KEY'),
      S3_FORCE_PATH_STYLE: 'true',
      ACTOR_SIGNING_KEY: keys.signingKey,
      ACTOR_PUBLIC_KEY: keys.publicKey,
      API_TOKEN: 'test-api-token',
      API_LOGIN_SECRET: 'test-login-secret',
      BOOKING_WEBHOOK_SECRET: bookingSecret,
      DRAIN_WINDOW_SECONDS: '0',
      RATE_LIMIT_LOGIN_PER_MINUTE: '0',
      RATE_LIMIT_LOGIN_FAILURES: '0',
      RATE_LIMIT_CHAT_PER_MINUTE: '0',
      RATE_LIMIT_CHAT_ADDRESS_PER_MINUTE: '0',
      WEBHOOK_SPOOL_DIR: join(spoolDir, 'webhooks'),
      MEDIA_URL: 'http://127.0.0.1:1', // no server listens on this port; a platform sets its own URL
      MEDIA_INTERNAL_URL: 'http://127.0.0.1:1',
      INTERNAL_PORT: '0',
      METRICS_PORT: '0',
      PORT: '0',
      LOG_LEVEL: level,
    },
    sql: <Row>(text: string, params?: readonly unknown[]) => run(database, text, params) as Promise<Row[]>,
    onStop: (work) => void cleanUps.push(work),
    stop: async () => {
      for (const work of cleanUps.toReversed()) await work();
      await database.close();
      if (bus.connected) await bus.deleteStreams();
      await bus.close();
      await run(admin, `drop database ${id} with (force)`);
      await admin.close();
      await rm(spoolDir, { recursive: true, force: true });
    },
  };
}

function readAddress(name: string): string {
  const value = process.env[name];
  if (value !== undefined && value !== '') return value;
  throw new Error(
    `${name} is not set: a test that needs servers belongs in test/integration or test/e2e, where jest starts them`,
  );
}

export const bookingSecret = 'booking-secret-of-the-tests';

/** Returns the signature header for exactly these bytes. */
export function signBooking(body: string | Buffer, secret = bookingSecret): { 'x-cal-signature-256': string } {
  return { 'x-cal-signature-256': createHmac('sha256', secret).update(body).digest('hex') };
}
