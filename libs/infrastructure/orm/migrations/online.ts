/**
 * Migrations without a surrounding transaction, for changes of tables in use: each statement is a separate step, and an
 * interrupted run continues with the incomplete step.
 */
import { Migration } from '@mikro-orm/migrations';
import type pg from 'pg';
import { progressTable, MigrationError } from '../migration-lock.ts';
import type { MigrationRun } from './run.ts';

/** A change of all rows of a table, made in batches in the order of an integer key. */
export interface Backfill {
  /** The table, as `<schema>.<table>`, and its key. */
  readonly table: string;
  readonly key: string;
  /** Changes the rows with `key > $1 and key <= $2`. Must be idempotent, since a batch may run again. */
  readonly sql: string;
  /** Number of keys per batch; default 2,000. */
  readonly batch?: number;
}

/**
 * Changes rows with values that the process computes. Each statement is a separate transaction. The work must be
 * idempotent, since it may run again.
 */
export type BackfillWork = (query: (sql: string, values: readonly unknown[]) => Promise<object[]>) => Promise<void>;

export type OnlineStep = { readonly sql: string; readonly backfill?: Backfill; readonly work?: BackfillWork };

export abstract class OnlineMigration extends Migration {
  readonly #steps: OnlineStep[] = [];

  override isTransactional(): boolean {
    return false;
  }

  /** Adds one statement. It runs in a transaction unless it contains `concurrently`. */
  override addSql(sql: string): void {
    this.#steps.push({ sql });
  }

  addBackfill(backfill: Backfill): void {
    this.#steps.push({ sql: backfill.sql, backfill });
  }

  addWork(work: BackfillWork): void {
    this.#steps.push({ sql: '', work });
  }

  get steps(): readonly OnlineStep[] {
    return this.#steps;
  }
}

const createIndex = /^\s*create\s+(?:unique\s+)?index\s+concurrently\s+(?:if\s+not\s+exists\s+)?(\w+)\s+on\s/i;
const dropIndex = /^\s*drop\s+index\s+concurrently\s+(?:if\s+exists\s+)?\w+\.(\w+)\s*$/i;

export interface OnlineContext {
  readonly run: MigrationRun;
  readonly pool: pg.Pool;
  readonly schema: string;
  readonly name: string;
}

/** Runs the incomplete steps, then records the migration in the history. */
export async function runOnline(context: OnlineContext, migration: OnlineMigration): Promise<void> {
  const { pool, schema, name, run } = context;
  await migration.up();
  await pool.query(`create table if not exists ${schema}.${progressTable} (
    migration text not null, step integer not null, position bigint, primary key (migration, step))`);
  const { rows } = await pool.query<{ step: number; position: string | null }>(
    `select step, position::text from ${schema}.${progressTable} where migration = $1`,
    [name],
  );
  const noted = new Map(rows.map(({ step, position }) => [step, position]));
  for (const [index, step] of migration.steps.entries()) {
    const position = noted.get(index);
    if (position === null) continue; // complete
    const what = `step ${index + 1} of ${migration.steps.length} of migration ${name} of schema ${schema}`;
    try {
      const { sql, backfill: batches, work } = step;
      if (batches !== undefined) await backfill(context, index, batches, position ?? undefined, what);
      else
        await run.retry(what, () =>
          work === undefined ? runStep(context, index, sql) : runWork(context, index, work),
        );
    } catch (error) {
      if (error instanceof MigrationError || run.signal.aborted) throw error;
      throw new MigrationError(
        `${what} failed: ${(error as Error).message}. The steps before it stay; run the migration again`,
        {
          cause: error,
        },
      );
    }
  }
  await inTransaction(context, async (client) => {
    await client.query(`insert into ${schema}.migrations (name) values ($1)`, [name]);
    await client.query(`drop table ${schema}.${progressTable}`);
  });
}

async function runStep(context: OnlineContext, index: number, sql: string): Promise<void> {
  const created = createIndex.exec(sql)?.[1];
  const dropped = dropIndex.exec(sql)?.[1];
  if (created === undefined && dropped === undefined) {
    await inTransaction(context, async (client) => {
      await client.query(sql);
      await note(context, client, index, null);
    });
    return;
  }
  await withoutLockTimeout(context, async (client) => {
    const state = await findIndex(client, context.schema, created ?? dropped ?? '');
    if (created !== undefined && state !== 'valid') {
      // An interrupted build leaves an invalid index, which queries do not use but which slows down every write.
      if (state === 'invalid') await client.query(`drop index concurrently ${context.schema}.${created}`);
      await client.query(sql);
    }
    if (dropped !== undefined && state !== undefined) await client.query(sql);
    await note(context, client, index, null);
  });
}

async function runWork(context: OnlineContext, index: number, work: BackfillWork): Promise<void> {
  await work(async (sql, values) => (await context.pool.query<object>(sql, [...values])).rows);
  await inTransaction(context, (client) => note(context, client, index, null));
}

async function findIndex(
  client: pg.ClientBase,
  schema: string,
  name: string,
): Promise<'valid' | 'invalid' | undefined> {
  const { rows } = await client.query<{ valid: boolean }>(
    `select i.indisvalid as valid from pg_index i join pg_class c on c.oid = i.indexrelid join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = $1 and c.relname = $2`,
    [schema, name],
  );
  if (rows[0] === undefined) return undefined;
  return rows[0].valid ? 'valid' : 'invalid';
}

async function backfill(
  context: OnlineContext,
  index: number,
  step: Backfill,
  from: string | undefined,
  what: string,
): Promise<void> {
  const { table, key, sql, batch = 2_000 } = step;
  let position = from ?? '-2147483648';
  for (;;) {
    const next = await context.run.retry(what, () =>
      inTransaction(context, async (client) => {
        const { rows } = await client.query<{ last: string | null }>(
          `select max(${key})::text as last from (select ${key} from ${table} where ${key} > $1 order by ${key} limit $2) batch`,
          [position, batch],
        );
        const last = rows[0]?.last ?? null;
        if (last !== null) await client.query(sql, [position, last]);
        await note(context, client, index, last);
        return last;
      }),
    );
    if (next === null) return;
    position = next;
  }
}

/**
 * Stores the state of a step.
 * @param position progress of a backfill; null: the step is complete
 */
async function note(
  { schema, name }: OnlineContext,
  client: pg.ClientBase,
  index: number,
  position: string | null,
): Promise<void> {
  await client.query(
    `insert into ${schema}.${progressTable} (migration, step, position) values ($1, $2, $3)
     on conflict (migration, step) do update set position = excluded.position`,
    [name, index, position],
  );
}

async function inTransaction<T>(context: OnlineContext, work: (client: pg.ClientBase) => Promise<T>): Promise<T> {
  return withClient(context, async (client) => {
    await client.query('begin');
    try {
      const result = await work(client);
      await client.query('commit');
      return result;
    } catch (error) {
      await client.query('rollback');
      throw error;
    }
  });
}

/**
 * Runs `work` without a lock timeout. Building or dropping an index concurrently waits for older transactions, but its
 * lock blocks neither reads nor writes. A lock timeout would only abort the build after a long time. The run logs the
 * sessions that it waits for.
 */
async function withoutLockTimeout(
  context: OnlineContext,
  work: (client: pg.ClientBase) => Promise<void>,
): Promise<void> {
  await withClient(context, async (client) => {
    await client.query('set lock_timeout = 0');
    try {
      await work(client);
    } finally {
      await client.query(`set lock_timeout = ${context.run.lockTimeoutMs}`);
    }
  });
}

async function withClient<T>({ pool }: OnlineContext, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    return await work(client);
  } finally {
    client.release();
  }
}
