/**
 * Measures the throughput of the job library (enqueue, lease and complete in PostgreSQL), and of a bare JetStream
 * consumer for comparison.
 */
import { AckPolicy, jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { defineService, job, Type } from '#libs/infrastructure/contract';
import { createJobs, jobAttempts, jobTables } from '#libs/infrastructure/jobs';
import { createLogger } from '#libs/infrastructure/logger';
import { connectBus } from '#libs/infrastructure/nats';
import { createDatabase } from '#libs/infrastructure/orm';
import pg from 'pg';

const concurrency = 64;

const contract = defineService({
  service: 'bench',
  rpcs: {},
  jobs: {
    count: job({
      type: 'bench.count',
      summary: 'Does nothing.',
      payload: Type.Object({ n: Type.Integer() }),
      policy: { concurrency },
    }),
  },
  events: {},
});

/**
 * Returns jobs per second, from the first enqueue to the last completion. Jobs are enqueued in transactions of 100
 * during the measurement.
 */
export async function measureJobs(settings: Readonly<Record<string, string>>, count: number): Promise<number> {
  const logger = createLogger({ service: 'bench', level: 'warn' });
  const admin = new pg.Client({ connectionString: settings['DATABASE_URL'] });
  await admin.connect();
  await admin.query('create schema if not exists bench');
  for (const sql of [jobTables('bench'), ...jobAttempts('bench')]) await admin.query(sql);
  const db = await createDatabase({
    url: settings['DATABASE_URL'] ?? '',
    schema: 'bench',
    poolSize: 10,
    logger,
    applicationName: 'bench',
  });
  const bus = await connectBus({ url: settings['NATS_URL'] ?? '', name: 'bench', logger });
  const jobs = createJobs({ contract, db, bus, logger });
  let done = 0;
  const finished = Promise.withResolvers<void>();
  await jobs.work({
    'bench.count': async (run) => {
      await run.complete(async () => undefined);
      done += 1;
      if (done === count) finished.resolve();
    },
  });
  const startedAt = performance.now();
  for (let n = 0; n < count; n += 100) {
    await jobs.transaction(async (tx) => {
      for (let item = n; item < n + 100; item += 1) await jobs.enqueue(tx, contract.jobs.count, { n: item });
    });
  }
  await finished.promise;
  const rate = count / ((performance.now() - startedAt) / 1_000);
  await jobs.stop();
  await bus.close();
  await db.close();
  await admin.query('drop schema bench cascade');
  await admin.end();
  return rate;
}

/**
 * Returns messages per second. Messages are published with acknowledgement, 100 concurrently, and are consumed and
 * acknowledged one by one.
 */
export async function measureBareConsumer(settings: Readonly<Record<string, string>>, count: number): Promise<number> {
  const connection = await connect({ servers: settings['NATS_URL'] ?? '', noAsyncTraces: true });
  const manager = await jetstreamManager(connection);
  await manager.streams.add({
    name: 'FLOOR-JOBS',
    subjects: ['floor-jobs.>'],
    retention: 'workqueue',
    storage: 'file',
  });
  await manager.consumers.add('FLOOR-JOBS', {
    durable_name: 'floor',
    ack_policy: AckPolicy.Explicit,
    max_ack_pending: concurrency,
  });
  const js = jetstream(connection);
  const consumer = await js.consumers.get('FLOOR-JOBS', 'floor');
  const startedAt = performance.now();
  const consumed = (async () => {
    let seen = 0;
    for await (const message of await consumer.consume({ max_messages: concurrency })) {
      message.ack();
      seen += 1;
      if (seen === count) break;
    }
  })();
  for (let n = 0; n < count; n += 100) {
    await Promise.all(
      Array.from({ length: 100 }, (_, item) => js.publish('floor-jobs.count', JSON.stringify({ n: n + item }))),
    );
  }
  await consumed;
  const rate = count / ((performance.now() - startedAt) / 1_000);
  await manager.streams.delete('FLOOR-JOBS');
  await connection.close();
  return rate;
}
