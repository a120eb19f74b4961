/** Brings one service's schema up to date: creates it, its SQL functions, and runs the migrations that its history lacks. */
import { Migrator } from '@mikro-orm/migrations';
import { MikroORM, type Constructor } from '@mikro-orm/postgresql';
import type { Migration } from '@mikro-orm/migrations';
import pg from 'pg';
import type { Logger } from '#libs/logger';
import { createDialect } from './dialect.ts';
import { toDatabaseError } from './errors.ts';
import { isoUtcSql } from './iso-utc.ts';
import { entityParsers } from './parsers.ts';
import { grantServiceRole, type ServiceRole } from './role.ts';

export { Migration } from '@mikro-orm/migrations';

/** A migration's class, `Migration<yyyymmddhhmmss>_<what>`: its name is the entry in the history. */
export type MigrationClass = Constructor<Migration>;

export interface MigrateOptions {
  readonly url: string;
  readonly schema: string;
  /** In the order of their names, as the service's `migrations/index.ts` lists them. */
  readonly migrations: readonly MigrationClass[];
  readonly logger: Logger;
  /** Whom the schema's rows are for; absent = the service connects as the migration does. */
  readonly role?: ServiceRole | undefined;
  /** Time to wait for another process that migrates; default 120 000. */
  readonly lockTimeoutMs?: number;
}

/** One lock for the whole database: schemas and extensions of several services may not be created at the same time. */
const migrationLock = 0x636f6865; // 'cohe'

/**
 * Runs the migrations that `<schema>.migrations` does not name yet, each in its own transaction. One process at a time does so;
 * others wait, then find nothing to do.
 * @returns names of the migrations that ran.
 * @throws Error naming the migration that failed; what ran before it stays.
 */
export async function migrate(options: MigrateOptions): Promise<string[]> {
  const { schema, logger } = options;
  if (!URL.canParse(options.url)) throw new Error('DATABASE_URL is not a valid PostgreSQL URL');
  if (!/^[a-z][a-z0-9_]*$/.test(schema)) throw new Error(`"${schema}" is not a name of a schema`);
  checkOrder(options.migrations);
  const pool = new pg.Pool({
    connectionString: options.url,
    options: `-c search_path=${schema},public`,
    application_name: `migrate-${schema}`,
    max: 2,
    connectionTimeoutMillis: 10_000,
    types: entityParsers,
  });
  pool.on('error', () => {});
  try {
    const lock = await pool.connect();
    lock.on('error', () => {});
    try {
      await lock.query(`set statement_timeout = ${options.lockTimeoutMs ?? 120_000}`);
      await lock.query('select pg_advisory_lock($1)', [migrationLock]);
      await lock.query(`create schema if not exists ${schema}`);
      await lock.query(isoUtcSql(schema));
      const names = await runPending(pool, options);
      if (options.role !== undefined) await grantServiceRole(lock, schema, options.role);
      logger.info({ schema, migrations: names }, names.length === 0 ? 'schema is up to date' : 'schema migrated');
      return names;
    } finally {
      lock.release(true); // closing the session gives the lock back
    }
  } catch (error) {
    throw toDatabaseError(error);
  } finally {
    await pool.end();
  }
}

async function runPending(pool: pg.Pool, { schema, migrations }: MigrateOptions): Promise<string[]> {
  const orm = new MikroORM({
    entities: [],
    dbName: 'postgres',
    schema,
    driverOptions: createDialect(pool),
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
  await orm.connect();
  let current = 'none';
  orm.migrator.on('migrating', ({ name }) => {
    current = name;
  });
  try {
    const done = await orm.migrator.up();
    return done.map(({ name }) => name);
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    throw new Error(`migration ${current} of schema ${schema} failed: ${text}`, { cause: error });
  } finally {
    await orm.close(true);
  }
}

function checkOrder(migrations: readonly MigrationClass[]): void {
  const names = migrations.map(({ name }) => name);
  const sorted = names.toSorted();
  if (
    new Set(names).size !== names.length ||
    names.some((name, index) => name !== sorted[index] || !/^Migration\d{14}_[a-z0-9_]+$/.test(name))
  ) {
    throw new Error(`migrations must be named Migration<yyyymmddhhmmss>_<what> and listed in that order: ${names.join(', ')}`);
  }
}
