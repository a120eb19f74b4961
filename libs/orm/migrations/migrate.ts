/** Brings one service's schema up to date: creates it, its SQL functions, and runs the migrations that its history lacks. */
import { Migrator } from '@mikro-orm/migrations';
import { MikroORM, type Constructor } from '@mikro-orm/postgresql';
import type { Migration } from '@mikro-orm/migrations';
import type pg from 'pg';
import type { Logger } from '#libs/logger';
import { createDialect, PoolDriver } from '../entities/dialect.ts';
import { refusesStartOptions, toDatabaseError } from '../errors.ts';
import { createHostPool, listHosts, splitStartOptions } from '../hosts.ts';
import { isoUtcSql } from '../iso-utc.ts';
import { entityParsers } from '../parsers.ts';
import { grantRole, grantServiceRole, type ServiceRole } from '../role.ts';

/** A migration's class, `Migration<yyyymmddhhmmss>_<what>`: its name is the entry in the history. */
export type MigrationClass = Constructor<Migration>;

export interface MigrateOptions {
  readonly url: string;
  readonly schema: string;
  /** In the order of their names. */
  readonly migrations: readonly MigrationClass[];
  readonly logger: Logger;
  /** Whom the schema's rows are for; absent = the service connects as the migration does. */
  readonly role?: ServiceRole | undefined;
  /** Narrows what that role may do (`grantServiceRole`). */
  readonly rights?: readonly string[] | undefined;
  /** Roles beside it, each with all that it may do in the schema. */
  readonly others?: readonly { readonly role: ServiceRole; readonly rights: readonly string[] }[] | undefined;
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
  const { hosts, startOptions } = splitStartOptions(listHosts(options.url));
  if (!/^[a-z][a-z0-9_]*$/.test(schema)) throw new Error(`"${schema}" is not a name of a schema`);
  checkOrder(options.migrations);
  const settings: pg.PoolConfig = {
    options: `${startOptions} -c search_path=${schema},public`,
    application_name: `migrate-${schema}`,
    max: 2,
    connectionTimeoutMillis: 10_000,
    types: entityParsers,
  };
  const pool = createHostPool(settings, hosts);
  pool.on('error', () => {});
  try {
    const lock = await pool.connect();
    lock.on('error', () => {});
    try {
      await refusePooler(lock, schema);
      await lock.query(`set statement_timeout = ${options.lockTimeoutMs ?? 120_000}`);
      await lock.query('select pg_advisory_lock($1)', [migrationLock]);
      await lock.query(`create schema if not exists ${schema}`);
      await lock.query(isoUtcSql(schema));
      const names = await runPending(pool, options);
      if (options.role !== undefined) await grantServiceRole(lock, schema, options.role, options.rights);
      for (const { role, rights } of options.others ?? []) await grantRole(lock, schema, role, rights);
      logger.info({ schema, migrations: names }, names.length === 0 ? 'schema is up to date' : 'schema migrated');
      return names;
    } finally {
      lock.release(true); // closing the session gives the lock back
    }
  } catch (error) {
    throw refusesStartOptions.test((error as Error).message) ? throughPooler() : toDatabaseError(error);
  } finally {
    await pool.end();
  }
}

const throughPooler = (): Error =>
  new Error(
    'the address of the migration leads through a pooler: it must lead straight to PostgreSQL, one session of which holds the lock',
  );

/** A pooler that drops the schema from the start of a connection does not keep a lock either. */
async function refusePooler(client: pg.ClientBase, schema: string): Promise<void> {
  const { rows } = await client.query<{ path: string }>(`select current_setting('search_path') as path`);
  if (rows[0]?.path.split(',')[0]?.trim() !== schema) throw throughPooler();
}

async function runPending(pool: pg.Pool, { schema, migrations }: MigrateOptions): Promise<string[]> {
  const orm = new MikroORM({
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
