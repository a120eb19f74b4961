/**
 * Fills the migrated, empty database of a platform with set-based SQL, for `npm run bench:scale` and query plan tests.
 * All values derive from sequence numbers, so that two databases of one size are identical.
 */
import { createLogger } from '#libs/infrastructure/logger';
import { createDatabase, type Tx } from '#libs/infrastructure/orm';

/** Rows for an empty database. */
export interface Seed {
  /** Large tables; their indexes are created after the rows. */
  readonly tables: readonly string[];
  /** Tables whose identity sequence is advanced beyond the ids of the rows. */
  readonly identities: readonly string[];
  readonly steps: readonly { readonly what: string; readonly sql: string }[];
}

/** A database is regarded as filled if one of these tables has a row. */
const emptyTables = ['directory.people', 'directory.holons', 'conversations.conversations'] as const;

/**
 * Fills the database in one transaction, so that an interrupted run leaves no rows. Indexes are created after the rows,
 * which takes a fraction of the time.
 * @param log receives progress messages
 * @throws Error if the database already contains people, holons or conversations
 */
export async function fillDatabase(options: { url: string; seed: Seed; log: (line: string) => void }): Promise<void> {
  const { seed, log } = options;
  const logger = createLogger({ service: 'seed', level: 'warn' });
  const database = await createDatabase({
    url: options.url,
    schema: 'public',
    poolSize: 1,
    logger,
    applicationName: 'seed',
    statementTimeoutMs: 3_600_000,
  });
  try {
    await database.transaction(async (tx) => {
      await requireEmpty(tx);
      await run(tx, `set local maintenance_work_mem = '512MB'`);
      await run(tx, `set local work_mem = '256MB'`);
      await run(tx, 'set local synchronous_commit = off');
      const indexes = await dropIndexes(tx, seed.tables);
      for (const { what, sql } of seed.steps) {
        log(what);
        await run(tx, sql);
      }
      for (const [index, sql] of indexes.entries()) {
        log(`index ${index + 1} of ${indexes.length}`);
        await run(tx, sql);
      }
      for (const table of seed.identities) await run(tx, advanceSequence(table));
    });
    log('vacuum analyze');
    await database.query({ name: 'vacuum', text: 'vacuum (analyze)' });
  } finally {
    await database.close();
  }
}

/** Returns true if the database already contains people, holons or conversations. */
export async function isFilled(url: string): Promise<boolean> {
  const logger = createLogger({ service: 'seed', level: 'warn' });
  const database = await createDatabase({ url, schema: 'public', poolSize: 1, logger, applicationName: 'seed' });
  try {
    return await database.transaction(holdsRows);
  } finally {
    await database.close();
  }
}

async function requireEmpty(tx: Tx): Promise<void> {
  if (await holdsRows(tx))
    throw new Error('The database holds people, holons or conversations already; only an empty one can be filled.');
}

async function holdsRows(tx: Tx): Promise<boolean> {
  const tables = emptyTables.map((table) => `exists (select from ${table})`);
  const [row] = await tx.query<{ filled: boolean }>({
    name: 'seed.is-filled',
    text: `select ${tables.join(' or ')} as filled`,
  });
  return row?.filled === true;
}

/**
 * Drops the indexes of the tables, including those of constraints that no other table references.
 * @returns the statements that recreate them
 */
async function dropIndexes(tx: Tx, tables: readonly string[]): Promise<string[]> {
  const rows = await tx.query<{ removed: string; again: string }>(
    {
      name: 'seed.indexes',
      text: `select case when own.oid is null then format('drop index %s', i.indexrelid::regclass)
           else format('alter table %s drop constraint %I', i.indrelid::regclass, own.conname) end as removed,
         case when own.oid is null then pg_get_indexdef(i.indexrelid)
           else format('alter table %s add constraint %I %s', i.indrelid::regclass, own.conname, pg_get_constraintdef(own.oid)) end as again
       from pg_index i left join pg_constraint own on own.conindid = i.indexrelid and own.contype in ('p', 'u')
       where i.indrelid = any($1::regclass[])
         and not exists (select from pg_constraint other where other.conindid = i.indexrelid and other.contype = 'f')
       order by i.indexrelid`,
    },
    [tables],
  );
  for (const { removed } of rows) await run(tx, removed);
  return rows.map((row) => row.again);
}

const advanceSequence = (table: string): string =>
  `select setval(pg_get_serial_sequence('${table}', 'id'), greatest((select max(id) from ${table}), 1))`;

let runs = 0;
async function run(tx: Tx, sql: string): Promise<void> {
  await tx.query({ name: `seed.run-${++runs}`, text: sql });
}
