/** A service with jobs for tests: its tables in a separate schema, and any number of replicas. */
import { auditTables } from '#libs/infrastructure/audit';
import { defineService, event, job, Type } from '#libs/infrastructure/contract';
import {
  createJobs,
  failedJobs,
  sentRemoteJobs,
  jobAttempts,
  type JobHandler,
  type Jobs,
  jobTables,
  type JobTuning,
  redactStoredErrors,
} from '#libs/infrastructure/jobs';
import { type Bus, connectBus } from '#libs/infrastructure/nats';
import { createDatabase, type Database } from '#libs/infrastructure/orm';
import { migrate, Migration, OnlineMigration } from '#libs/infrastructure/orm/migrations';
import type { TestEnvironment } from '#libs/product/testing';

const payload = Type.Object({ n: Type.Integer(), text: Type.Optional(Type.String()) }, { additionalProperties: false });
const quick = { maxAttempts: 3, firstDelayMs: 20, maxDelayMs: 100, timeoutMs: 60_000, concurrency: 8 };

/** Test jobs: `effect` writes a row to the database, `step` runs what the test defines. */
export const shop = defineService({
  service: 'shop',
  rpcs: {},
  jobs: {
    effect: job({
      type: 'shop.effect',
      summary: 'Writes one row',
      payload,
      startedBy: ['office'],
      policy: { ...quick, maxAttempts: 100 },
    }),
    step: job({ type: 'shop.step', summary: 'Does what the test says', payload, policy: quick }),
    brief: job({ type: 'shop.brief', summary: 'Has little time', payload, policy: { ...quick, timeoutMs: 150 } }),
    aging: job({
      type: 'shop.aging',
      summary: 'Ends by its age',
      payload,
      policy: { ...quick, maxAttempts: Infinity, expiresAfterMs: 300 },
    }),
  },
  events: {
    sold: event({
      subject: 'events.shop.thing.sold',
      summary: 'A thing was sold',
      payload: Type.Object({ n: Type.Integer() }),
    }),
  },
});

/** Another service that only enqueues jobs for the shop. */
export const office = defineService({ service: 'office', rpcs: {}, jobs: {}, events: {} });

class Migration20260101000000_jobs extends Migration {
  override up(): void {
    for (const sql of [
      jobTables('shop'),
      ...jobAttempts('shop'),
      ...sentRemoteJobs('shop'),
      ...failedJobs('shop'),
      ...auditTables('shop'),
    ])
      this.addSql(sql);
    this.addSql(
      'create table shop.effects (id integer generated always as identity, n integer not null, job_id uuid not null)',
    );
  }
}
class Migration20260101000000_office extends Migration {
  override up(): void {
    const jobs = [jobTables('office'), ...jobAttempts('office'), ...sentRemoteJobs('office'), ...failedJobs('office')];
    for (const sql of [...jobs, ...auditTables('office')]) this.addSql(sql);
  }
}

class Migration20260101000001_redacted_errors extends OnlineMigration {
  override up(): void {
    this.addWork((query) => redactStoredErrors('shop', query));
  }
}

/** Redacts errors that an earlier release stored. */
export async function redactErrors(env: TestEnvironment): Promise<void> {
  const migrations = [Migration20260101000000_jobs, Migration20260101000001_redacted_errors];
  await migrate({ url: env.settings['DATABASE_URL'] ?? '', schema: 'shop', migrations, logger: env.logger });
}

export async function migrateShop(url: string, env: Pick<TestEnvironment, 'logger'>): Promise<void> {
  await migrate({ url, schema: 'shop', migrations: [Migration20260101000000_jobs], logger: env.logger });
  await migrate({ url, schema: 'office', migrations: [Migration20260101000000_office], logger: env.logger });
}

export const addEffect = { name: 'effect.add', text: 'insert into effects (n, job_id) values ($1, $2)' };

/** Intervals short enough for tests. */
export const fast: Partial<JobTuning> = {
  leaseMs: 1_500,
  pollMs: 50,
  sweepMs: 200,
  queuedTooLongMs: 500,
  outboxClaimMs: 500,
  publishTimeoutMs: 1_000,
  stopGraceMs: 500,
};

type ShopHandlers = { readonly [K in keyof (typeof shop)['jobs']]: JobHandler<{ n: number; text?: string }> };

/** Handler of `effect`: writes one row in the transaction that ends the job. */
export const workEffect: ShopHandlers['effect'] = async ({ id, payload: { n }, complete }) => {
  await complete((tx) => tx.query(addEffect, [n, id]).then(() => undefined));
};

const nothing = async (): Promise<void> => {};

export interface Replica {
  readonly db: Database;
  readonly bus: Bus;
  readonly jobs: Jobs<typeof shop>;
  stop(): Promise<void>;
}

export interface ReplicaOptions {
  handlers?: Partial<ShopHandlers>;
  tuning?: Partial<JobTuning>;
  url?: string;
  natsUrl?: string;
  /** If false, the replica only works when a test calls it: it runs no jobs and no relay. */
  works?: boolean;
  name?: string;
}

/** Starts one replica of the shop. */
export async function openReplica(
  env: Pick<TestEnvironment, 'settings' | 'logger'>,
  options: ReplicaOptions = {},
): Promise<Replica> {
  const { logger } = env;
  const url = options.url ?? env.settings['DATABASE_URL'] ?? '';
  const db = await createDatabase({
    url,
    schema: 'shop',
    poolSize: 6,
    logger,
    applicationName: options.name ?? 'shop',
  });
  const natsUrl = options.natsUrl ?? env.settings['NATS_URL'] ?? '';
  const bus = await connectBus({ url: natsUrl, name: 'shop', prefix: env.settings['NATS_SUBJECT_PREFIX'], logger });
  const jobs = createJobs({
    contract: shop,
    db,
    bus,
    logger,
    tuning: { ...fast, ...options.tuning },
    worker: options.name,
  });
  const handlers: ShopHandlers = {
    effect: workEffect,
    step: nothing,
    brief: nothing,
    aging: nothing,
    ...options.handlers,
  };
  if (options.works !== false) await jobs.work(handlers);
  let stopped: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    await jobs.stop();
    await bus.close();
    await db.close();
  };
  return { db, bus, jobs, stop: () => (stopped ??= stop()) };
}

export interface JobRow {
  id: string;
  type: string;
  state: string;
  attempts: number;
  generation: number;
  lease: number;
  lease_until: string | null;
  error: string | null;
  percent: number;
  phase: string | null;
  result: string | null;
  worker: string | null;
}

/** Reads a job directly with SQL, bypassing the library. */
export async function readJob(env: Pick<TestEnvironment, 'sql'>, id: string): Promise<JobRow | undefined> {
  const [row] = await env.sql<JobRow>('select * from shop.jobs where id = $1', [id]);
  return row;
}

export async function countEffects(env: Pick<TestEnvironment, 'sql'>, n: number): Promise<number> {
  const [row] = await env.sql<{ count: number }>('select count(*)::int as count from shop.effects where n = $1', [n]);
  return row?.count ?? 0;
}
