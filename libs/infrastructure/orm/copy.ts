/**
 * Exports and imports whole tables in PostgreSQL's COPY text format, the content of a database backup
 * (docs/adr/backup-format.md). Rows are streamed, not buffered.
 */
import type { Writable } from 'node:stream';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import {
  type CopySequence,
  type CopyTable,
  format,
  listLoadObstacles,
  listSequences,
  listTables,
  readHistories,
  sortBySize,
} from './copy-catalog.ts';
import { toDatabaseError } from './errors.ts';
import { connectToHosts, listHosts } from './hosts.ts';
import { keepMigrationsAway, refuseInterrupted } from './migration-lock.ts';
import { columnsOf, nameOf, type ReadingOptions, readTables } from './snapshot-readers.ts';

export type { CopySequence, CopyTable } from './copy-catalog.ts';

/** A snapshot of the database. Commits after its start are not visible in it. */
export interface Snapshot {
  /** ISO 8601, from the database's clock. */
  readonly takenAt: string;
  readonly serverVersion: string;
  readonly tables: readonly CopyTable[];
  readonly sequences: readonly CopySequence[];
  /** Migration names by schema. */
  readonly migrations: Readonly<Record<string, readonly string[]>>;
  /**
   * Calls `work` with the rows of each table, largest table first, on up to `connections` connections in parallel.
   * Calls `onFewer` when the server allows fewer connections.
   * @throws the first failure
   */
  readTables(options: Pick<ReadingOptions, 'connections' | 'work' | 'onFewer'>): Promise<void>;
  close(): Promise<void>;
}

/** An open transaction that fills empty tables. */
export interface Loader {
  readonly tables: readonly CopyTable[];
  /**
   * Returns a stream for the rows of a table. Only one table can be written at a time. `rowCount` is final when the
   * stream ends.
   */
  write(table: CopyTable): Writable & { readonly rowCount: number };
  /** Sets the sequence to its value in the backup plus `gap`. */
  advance(sequence: CopySequence, gap: number): Promise<void>;
  raise(counter: Counter, gap: number): Promise<void>;
}

/** A column that serves as a counter instead of a sequence, usually in one row. */
export interface Counter {
  readonly schema: string;
  readonly table: string;
  readonly column: string;
}

/** The text format of values depends on these settings. The timeouts are disabled because a copy can take hours. */
const sessionSettings = {
  client_encoding: 'UTF8',
  datestyle: 'ISO, YMD',
  intervalstyle: 'postgres',
  timezone: 'UTC',
  extra_float_digits: '1',
  bytea_output: 'hex',
  statement_timeout: '0',
  lock_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  // With an empty search path, names in the output include their schema.
  search_path: '""',
} as const;

/**
 * Opens a snapshot of the tables of these schemas.
 * @throws AppError `unavailable` when the database is unavailable
 * @throws MigrationError while a migration runs or was interrupted
 */
export async function openSnapshot(url: string, schemas: readonly string[]): Promise<Snapshot> {
  const client = await connect(url, 'backup');
  try {
    await client.query('begin isolation level repeatable read read only');
    await keepMigrationsAway(client);
    await refuseInterrupted(client, schemas);
    const { rows } = await client.query<{ at: string; version: string }>(
      `select to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at, current_setting('server_version') as version`,
    );
    const migrations = await readHistories(client, schemas);
    const known = Object.keys(migrations);
    const tables = await listTables(client, known);
    return {
      takenAt: rows[0]?.at ?? '',
      serverVersion: rows[0]?.version ?? '',
      migrations,
      tables,
      sequences: await listSequences(client, known),
      readTables: async (options) =>
        readTables({
          ...options,
          exporter: client,
          connect: () => connect(url, 'backup'),
          tables: await sortBySize(client, tables),
        }),
      close: () => client.end(),
    };
  } catch (error) {
    await client.end();
    throw toDatabaseError(error);
  }
}

/**
 * Fills all tables of `schemas` in one transaction and replaces rows inserted by migrations. Foreign keys are checked
 * and indexes are built after the rows. Triggers do not run, since the loaded rows already contain their results.
 */
export async function loadTables(
  url: string,
  schemas: readonly string[],
  work: (loader: Loader) => Promise<void>,
): Promise<void> {
  const client = await connect(url, 'restore');
  try {
    await client.query('begin');
    await keepMigrationsAway(client);
    const tables = await listTables(client, schemas);
    const { remove, restore } = await listLoadObstacles(client, schemas);
    for (const text of remove) await client.query(text);
    if (tables.length > 0) await client.query(`truncate ${tables.map(nameOf).join(', ')}`);
    await work({
      tables,
      write: (table) => client.query(copyFrom(`copy ${nameOf(table)} (${columnsOf(table)}) from stdin`)),
      advance: (sequence, gap) => advance(client, sequence, gap),
      raise: (counter, gap) => raise(client, counter, gap),
    });
    for (const text of restore) await client.query(text);
    await client.query('commit');
    for (const table of tables) await client.query(`analyze ${nameOf(table)}`);
  } catch (error) {
    throw toDatabaseError(error);
  } finally {
    await client.end();
  }
}

/** Advances all used sequences of the schemas, and these counters, by `gap`. */
export async function advanceIdSequences(
  url: string,
  options: { schemas: readonly string[]; counters: readonly Counter[]; gap: number },
): Promise<void> {
  const { schemas, counters, gap } = options;
  const client = await connect(url, 'restore');
  try {
    await client.query('begin');
    for (const sequence of await listSequences(client, schemas)) await advance(client, sequence, gap);
    for (const counter of counters) await raise(client, counter, gap);
    await client.query('commit');
  } catch (error) {
    throw toDatabaseError(error);
  } finally {
    await client.end();
  }
}

/** Returns the tables (`schema.table`) that have rows, except the tables filled by migrations (`seeded`). */
export async function findNonEmptyTables(
  url: string,
  schemas: readonly string[],
  seeded: readonly string[],
): Promise<string[]> {
  const client = await connect(url, 'restore');
  try {
    const filled: string[] = [];
    for (const table of await listTables(client, schemas)) {
      if (seeded.includes(table.name)) continue;
      const { rows } = await client.query<{ filled: boolean }>(
        `select exists (select from ${nameOf(table)}) as filled`,
      );
      if (rows[0]?.filled === true) filled.push(`${table.schema}.${table.name}`);
    }
    return filled;
  } catch (error) {
    throw toDatabaseError(error);
  } finally {
    await client.end();
  }
}

/** Drops schemas with all their objects. */
export async function dropSchemas(url: string, schemas: readonly string[]): Promise<void> {
  const client = await connect(url, 'restore');
  try {
    for (const schema of schemas) await client.query(`drop schema if exists ${pg.escapeIdentifier(schema)} cascade`);
  } catch (error) {
    throw toDatabaseError(error);
  } finally {
    await client.end();
  }
}

async function advance(client: pg.ClientBase, { schema, name, value }: CopySequence, gap: number): Promise<void> {
  const sequence = `${pg.escapeIdentifier(schema)}.${pg.escapeIdentifier(name)}`;
  const text = await format(
    client,
    `select setval(%L, least(%L::bigint + %s, (select max_value from pg_sequences where schemaname = %L and sequencename = %L)))`,
    [sequence, value, gap, schema, name],
  );
  await client.query(text);
}

async function raise(client: pg.ClientBase, { schema, table, column }: Counter, gap: number): Promise<void> {
  await client.query(await format(client, 'update %I.%I set %I = %I + %s', [schema, table, column, column, gap]));
}

async function connect(url: string, applicationName: string): Promise<pg.Client> {
  const settings = Object.entries(sessionSettings).map(([name, value]) => `set ${name} = ${pg.escapeLiteral(value)}`);
  const config = { application_name: applicationName, connectionTimeoutMillis: 10_000, keepAlive: true };
  try {
    const client = await connectToHosts(config, listHosts(url));
    try {
      await client.query(settings.join('; '));
      return client;
    } catch (error) {
      await client.end().catch(() => {});
      throw error;
    }
  } catch (error) {
    throw toDatabaseError(error);
  }
}
