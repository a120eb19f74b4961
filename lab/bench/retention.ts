/**
 * Measures how fast one process removes expired rows while a client keeps writing. Each table is filled with the same
 * number of old rows. The column `a day` shows how many rows one process removes in 24 hours on its normal schedule.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { removeOldEntries } from '#libs/infrastructure/audit';
import { createLogger } from '#libs/infrastructure/logger';
import { createDatabase, type Database } from '#libs/infrastructure/orm';
import { removeInBatches } from '#libs/infrastructure/retention';
import { sweepReceipts } from '#libs/product/webhooks';
import { Sweeper } from '../../libs/infrastructure/jobs/sweeper.ts';
import { defaultTuning } from '../../libs/infrastructure/jobs/types.ts';
import { createUuid } from '../../libs/infrastructure/jobs/uuid.ts';
import { dropOldBodies } from '../../services/conversations/receipts/statements.ts';
import { removeOldDeliveries } from '../../services/events/delivery-log/workers.ts';
import { migrateServices } from '#libs/infrastructure/migrations';
import { startPostgres } from '../../libs/product/servers/postgres.ts';

const secondsOfDay = 86_400;
const probeEveryMs = 20;
const filledAtOnce = 50_000;
/**
 * Share of the time that the removal runs: a sweep lasts up to a third of the interval between sweeps; other removals
 * run until no row is left.
 */
const sweeperShare = 1 / 4;

export interface RetentionRow {
  readonly rows: string;
  readonly 'rows/s': number;
  readonly 'a day': number;
  /** Latency of inserting a job during the removal, median and 99th percentile. */
  readonly 'insert ms': string;
}

type Run = (text: string, params?: readonly unknown[]) => Promise<unknown[]>;

interface Part {
  readonly name: string;
  readonly schema: 'conversations' | 'events';
  readonly fill: string;
  /** Calls the function once that the service calls repeatedly. */
  readonly remove: (db: Database) => Promise<unknown>;
  /** Of a day. */
  readonly share: number;
  readonly count: string;
}

const logger = createLogger({ service: 'bench', level: 'fatal' });

/**
 * Runs the sweeper, which removes finished jobs and sent messages. It queries the broker only about overdue jobs, which
 * do not exist here.
 */
function sweep(db: Database): Promise<void> {
  const unused = undefined as never;
  return new Sweeper({
    db,
    bus: unused,
    jobs: unused,
    relay: unused,
    logger,
    tuning: defaultTuning,
    declarations: [],
  }).sweep();
}

const oldJob = `(lpad(to_hex((extract(epoch from now() - interval '8 days') * 1000)::bigint), 12, '0') || '7000' || '8' || lpad(to_hex(n), 15, '0'))::uuid`;
const parts: readonly Part[] = [
  {
    name: 'finished jobs',
    schema: 'conversations',
    fill: `insert into conversations.jobs (id, type, payload, state, attempts, created_at, started_at, finished_at, request_id)
      select ${oldJob}, 'conversations.bench', json_build_object('conversation_id', n)::jsonb, 'succeeded', 1, now() - interval '8 days',
        now() - interval '8 days', now() - interval '8 days', 'request-' || n from generate_series($1::integer, $2::integer) n`,
    remove: sweep,
    share: sweeperShare,
    count: `select count(*)::integer as n from conversations.jobs where state = 'succeeded'`,
  },
  {
    name: 'sent outbox rows',
    schema: 'conversations',
    fill: `insert into conversations.handed_over (message_id, subject, body, handed_at)
      select gen_random_uuid(), 'jobs.media.bench', repeat('x', 300), now() - interval '2 days' from generate_series($1::integer, $2::integer) n`,
    remove: sweep,
    share: sweeperShare,
    count: 'select count(*)::integer as n from conversations.handed_over',
  },
  {
    name: 'webhook receipts',
    schema: 'conversations',
    fill: `insert into conversations.webhook_receipts (dedupe_key, delivery_id, person_id, headers, outcome, body, received_at)
      select 'bench-' || n, n, '', '{}', 'ignored', '{}', now() - interval '100 days' from generate_series($1::integer, $2::integer) n`,
    remove: (db) => sweepReceipts({ db, dropContents: dropOldBodies, days: 90 }),
    share: 1,
    count: 'select count(*)::integer as n from conversations.webhook_receipts',
  },
  {
    name: 'audit entries',
    schema: 'conversations',
    fill: `with filled as (insert into conversations.audit_log (id, at, actor_kind, action, outcome, previous_hash, hash)
        select n, now() - interval '500 days', 'cli', 'bench', 'ok', '', sha256(n::text::bytea) from generate_series($1::integer, $2::integer) n)
      update conversations.audit_head set last_id = $2::integer`,
    remove: (db) =>
      removeInBatches({ remove: async (limit) => (await removeOldEntries(db, { days: 400, limit })).removed }),
    share: 1,
    count: 'select count(*)::integer as n from conversations.audit_log',
  },
  {
    name: 'webhook deliveries',
    schema: 'events',
    fill: `with endpoint as (
        insert into events.webhook_endpoints (account_id, url, description, secret, first_position, position)
        values (1, 'https://example.org', '', sha256(''), 0, 0) returning id)
      insert into events.webhook_deliveries (endpoint_id, position, occurred_at, status, tries, created_at)
      select endpoint.id, n, now() - interval '40 days', 'delivered', 1, now() - interval '40 days' from endpoint, generate_series($1::integer, $2::integer) n`,
    remove: (db) => removeOldDeliveries({ db, config: { EVENTS_RETENTION_DAYS: 30 } }),
    share: 1,
    count: 'select count(*)::integer as n from events.webhook_deliveries',
  },
];

/** Uses a dedicated PostgreSQL with production durability. */
export async function measureRetention(rows: number, log: (line: string) => void): Promise<RetentionRow[]> {
  const dataDir = mkdtempSync(join(tmpdir(), 'coherence-retention-'));
  const modulesDir = join(import.meta.dirname, '..', '..', 'node_modules');
  const options = {
    dataDir: join(dataDir, 'postgres'),
    logFile: join(dataDir, 'postgres.log'),
    modulesDir,
    database: 'coherence',
    durable: true,
  };
  const postgres = await startPostgres(options);
  try {
    await migrateServices({ url: postgres.url, logger });
    const measured: RetentionRow[] = [];
    for (const part of parts) measured.push(await measurePart(postgres.url, part, rows, log));
    return measured;
  } finally {
    await postgres.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function measurePart(url: string, part: Part, rows: number, log: (line: string) => void): Promise<RetentionRow> {
  const db = await createDatabase({ url, schema: part.schema, poolSize: 2, logger, applicationName: 'bench' });
  const client = await createDatabase({ url, schema: part.schema, poolSize: 1, logger, applicationName: 'client' });
  const run: Run = (text, params = []) =>
    db.query({ name: `bench ${part.name} ${text.length}`.slice(0, 60), text }, params);
  try {
    log(`${part.name}: filling`);
    for (let first = 1; first <= rows; first += filledAtOnce)
      await run(part.fill, [first, Math.min(rows, first + filledAtOnce - 1)]);
    await run(`analyze ${part.schema}.jobs`);
    const before = await probe(client, new AbortController().signal, 100);
    log(`${part.name}: removing; before that an insert takes ${before}`);
    const over = new AbortController();
    const probing = probe(client, over.signal, Infinity);
    let busyMs = 0;
    for (let remaining = rows; remaining > 0;) {
      const startedMs = performance.now();
      await part.remove(db);
      busyMs += performance.now() - startedMs;
      remaining = ((await run(part.count))[0] as { n: number }).n;
    }
    over.abort();
    const rate = rows / (busyMs / 1_000);
    return {
      rows: part.name,
      'rows/s': Math.round(rate),
      'a day': Math.round(rate * part.share * secondsOfDay),
      'insert ms': `${await probing} (before: ${before})`,
    };
  } finally {
    await db.close();
    await client.close();
  }
}

/** Inserts jobs repeatedly. @returns median and 99th percentile of the latency in milliseconds */
async function probe(db: Database, signal: AbortSignal, times: number): Promise<string> {
  const taken: number[] = [];
  while (!signal.aborted && taken.length < times) {
    const startedMs = performance.now();
    await db.query(
      {
        name: 'bench-insert',
        text: `insert into jobs (id, type, payload, state) values ($1, 'bench.probe', '{}', 'queued')`,
      },
      [createUuid()],
    );
    taken.push(performance.now() - startedMs);
    await sleep(probeEveryMs);
  }
  taken.sort((a, b) => a - b);
  const at = (share: number): string => (taken[Math.floor(taken.length * share)] ?? 0).toFixed(1);
  return `${at(0.5)} / ${at(0.99)}`;
}
