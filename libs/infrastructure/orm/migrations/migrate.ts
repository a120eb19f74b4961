/** Updates a service's schema: creates it and its SQL functions, and runs the migrations missing in its history. */
import type pg from 'pg';
import { Migrator, type Migration } from '@mikro-orm/migrations';
import { MikroORM, type Constructor } from '@mikro-orm/postgresql';
import { createDialect, PoolDriver } from '../entities/dialect.ts';
import { createHostPool, listHosts, splitStartOptions } from '../hosts.ts';
import { MigrationError } from '../migration-lock.ts';
import { OnlineMigration, runOnline } from './online.ts';
import { type MigrationRun, openMigrationRun, type RunOptions, toRunError } from './run.ts';
import { entityParsers } from '../parsers.ts';
import { grantRole, grantServiceRole, type ServiceRole } from '../role.ts';

/** A migration class named `Migration<yyyymmddhhmmss>_<what>`; the class name is also the history entry. */
export type MigrationClass = Constructor<Migration>;

export interface SchemaOptions {
  readonly schema: string;
  /** Sorted by name. */
  readonly migrations: readonly MigrationClass[];
  /**
   * Maps a migration to the earlier migrations that it replaces. It counts as executed when the history contains all of
   * them.
   */
  readonly replaced?: Readonly<Record<string, readonly string[]>> | undefined;
  /** Role that uses the schema; absent: the service connects with the role of the migration. */
  readonly role?: ServiceRole | undefined;
  /** Statements that restrict `role` (see `grantServiceRole`). */
  readonly rights?: readonly string[] | undefined;
  /** Further roles, each with the complete list of its rights in the schema. */
  readonly others?: readonly { readonly role: ServiceRole; readonly rights: readonly string[] }[] | undefined;
}

export type MigrateOptions = SchemaOptions & RunOptions;

/** Opens a migration run, calls `migrateSchema` and closes the run. Returns the names of the migrations that ran. */
export async function migrate(options: MigrateOptions): Promise<string[]> {
  checkSchema(options);
  const run = await openMigrationRun(options);
  try {
    return await migrateSchema(run, options);
  } finally {
    await run.close();
  }
}

/**
 * Runs the migrations missing in `<schema>.migrations`: each in one transaction, online migrations step by step. Every
 * statement waits at most two seconds for a lock and is then retried, so that it does not block queued requests for
 * longer.
 * @returns names of the migrations that ran
 * @throws MigrationError that names the failed migration; earlier migrations remain applied
 */
export async function migrateSchema(run: MigrationRun, options: SchemaOptions): Promise<string[]> {
  checkSchema(options);
  const { schema } = options;
  const { hosts, startOptions } = splitStartOptions(listHosts(run.options.url));
  const settings: pg.PoolConfig = {
    options: `${startOptions} -c search_path=${schema},public -c lock_timeout=${run.lockTimeoutMs} -c statement_timeout=0`,
    application_name: `migrate-${schema}`,
    max: 1,
    connectionTimeoutMillis: 10_000,
    types: entityParsers,
  };
  const pool = createHostPool(settings, hosts, endWithClient);
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {})); // the running statement reports the error
  pool.on('acquire', (client) => run.watch(client));
  pool.on('release', (_error, client) => run.unwatch(client));
  try {
    await run.retry(`schema ${schema}`, () =>
      pool.query(`create schema if not exists ${schema}; ${isoUtcSql(schema)}`),
    );
    const names = await runPending(run, pool, options);
    await run.retry(`the rights in schema ${schema}`, () => grantRoles(pool, options));
    run.options.logger.info(
      { schema, migrations: names },
      names.length === 0 ? 'schema is up to date' : 'schema migrated',
    );
    return names;
  } catch (error) {
    if (run.signal.aborted) throw interrupted(schema, run.signal.reason);
    throw toRunError(error);
  } finally {
    await pool.end();
  }
}

function interrupted(schema: string, reason: unknown): Error {
  const why = reason instanceof Error ? reason.message : String(reason);
  return new MigrationError(
    `the migration of schema ${schema} was interrupted: ${why}. What is complete stays; run it again to go on`,
  );
}

/** Makes the server end the statements of terminated processes, if its operating system can detect them. */
async function endWithClient(client: pg.ClientBase): Promise<void> {
  await client.query(`set client_connection_check_interval = '2s'`).catch(() => {});
}

async function grantRoles(pool: pg.Pool, { schema, role, rights, others }: SchemaOptions): Promise<void> {
  const client = await pool.connect();
  try {
    if (role !== undefined) await grantServiceRole(client, schema, role, rights);
    for (const other of others ?? []) await grantRole(client, schema, other.role, other.rights);
  } finally {
    client.release();
  }
}

async function runPending(
  run: MigrationRun,
  pool: pg.Pool,
  { schema, migrations, replaced = {} }: SchemaOptions,
): Promise<string[]> {
  const orm = createOrm(pool, schema, migrations);
  await orm.connect();
  const done: string[] = [];
  try {
    const pending = await run.retry(`the history of schema ${schema}`, async () => {
      const unrecorded = await orm.migrator.getPending();
      const recorded = await recordReplacements(
        pool,
        schema,
        unrecorded.map(({ name }) => [name, replaced[name] ?? []] as const),
      );
      return unrecorded.filter(({ name }) => !recorded.has(name));
    });
    if (pending.length > 0) await run.waitForTransactions();
    for (const { name } of pending) {
      const Class = migrations.find((item) => item.name === name);
      const migration = Class === undefined ? undefined : new Class(orm.em.getDriver(), orm.config);
      try {
        if (migration instanceof OnlineMigration) await runOnline({ run, pool, schema, name }, migration);
        else await run.retry(`migration ${name} of schema ${schema}`, () => orm.migrator.up({ migrations: [name] }));
      } catch (error) {
        if (error instanceof MigrationError || run.signal.aborted) throw error;
        const text = error instanceof Error ? error.message : String(error);
        throw new MigrationError(`migration ${name} of schema ${schema} failed: ${text}`, { cause: error });
      }
      await record(pool, schema, replaced[name] ?? []);
      done.push(name);
    }
    return done;
  } finally {
    await orm.close(true);
  }
}

/**
 * Records each migration in `replacements` as executed if all the earlier migrations that it replaces have run.
 * @returns names of the recorded migrations
 * @throws MigrationError when only some of the earlier migrations have run
 */
async function recordReplacements(
  pool: pg.Pool,
  schema: string,
  replacements: readonly (readonly [name: string, former: readonly string[]])[],
): Promise<ReadonlySet<string>> {
  const { rows } = await pool.query<{ name: string }>(`select name from ${schema}.migrations`);
  const executed = new Set(rows.map(({ name }) => name));
  const recorded = replacements.filter(([name, former]) => {
    const missing = former.filter((item) => !executed.has(item));
    if (missing.length === former.length) return false;
    if (missing.length === 0) return true;
    throw new MigrationError(
      `schema ${schema} has only some of the migrations that ${name} replaces; these are missing: ${missing.join(', ')}. ` +
        'Upgrade to the release before this one first',
    );
  });
  await record(
    pool,
    schema,
    recorded.map(([name]) => name),
  );
  return new Set(recorded.map(([name]) => name));
}

/** Also records replaced migrations: services of the previous release wait for them. */
async function record(pool: pg.Pool, schema: string, names: readonly string[]): Promise<void> {
  await pool.query(`insert into ${schema}.migrations (name) select unnest($1::text[])`, [names]);
}

function createOrm(pool: pg.Pool, schema: string, migrations: readonly MigrationClass[]): MikroORM {
  return new MikroORM({
    entities: [],
    dbName: 'postgres',
    schema,
    driverOptions: createDialect(() => new PoolDriver({ connect: () => pool.connect() })),
    discovery: { warnWhenNoEntities: false },
    extensions: [Migrator],
    debug: false,
    logger: () => {},
    migrations: {
      tableName: 'migrations',
      migrationsList: [...migrations],
      transactional: true,
      allOrNothing: false,
      disableForeignKeys: false,
      snapshot: false,
      silent: true,
    },
  });
}

function checkSchema({ schema, migrations }: SchemaOptions): void {
  if (!/^[a-z][a-z0-9_]*$/.test(schema)) throw new Error(`"${schema}" is not a name of a schema`);
  checkOrder(migrations);
}

function checkOrder(migrations: readonly MigrationClass[]): void {
  const names = migrations.map(({ name }) => name);
  const sorted = names.toSorted();
  if (
    new Set(names).size !== names.length ||
    names.some((name, index) => name !== sorted[index] || !/^Migration\d{14}_[a-z0-9_]+$/.test(name))
  ) {
    throw new Error(
      `migrations must be named Migration<yyyymmddhhmmss>_<what> and listed in that order: ${names.join(', ')}`,
    );
  }
}

/**
 * Returns SQL that creates `iso_utc(timestamptz)`. The function formats an instant for clients in SQL, so that
 * microseconds are not lost (rules/http#datetimes-out): `Z`, six fraction digits only when the microseconds are not
 * zero, years 0001 to 9999.
 *
 * The function is a single expression of immutable functions (`to_char` is not immutable), so that PostgreSQL inlines
 * it into the calling query.
 */
export function isoUtcSql(schema: string): string {
  const part = (field: string, digits: number): string =>
    `lpad((date_part('${field}', at at time zone 'UTC')::integer)::text, ${digits}, '0')`;
  const micros = `(date_part('microseconds', at at time zone 'UTC')::integer)`;
  return `create or replace function ${schema}.iso_utc(at timestamptz) returns text
    language sql immutable parallel safe
    return ${part('year', 4)} || '-' || ${part('month', 2)} || '-' || ${part('day', 2)}
      || 'T' || ${part('hour', 2)} || ':' || ${part('minute', 2)} || ':' || lpad((${micros} / 1000000)::text, 2, '0')
      || case when ${micros} % 1000000 = 0 then '' else '.' || lpad((${micros} % 1000000)::text, 6, '0') end
      || 'Z'`;
}
