/**
 * Waits until the migrations of this release have run. Services never run migrations themselves (architecture#data).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '#libs/infrastructure/logger';
import type { Database } from './database.ts';
import { sqlStateOf } from './errors.ts';
import { sql, statement, t } from '#libs/infrastructure/sql';

const pollMs = 500;
/** SQLSTATEs: undefined table, undefined schema, insufficient privilege. */
const missingObjectStates = new Set(['42P01', '3F000', '42501']);

/** Returns the migrations that have not run yet, in order. @throws AppError `unavailable` */
export async function findPendingMigrations(
  db: Database,
  schema: string,
  migrations: readonly string[],
): Promise<string[]> {
  const listMigrations = statement.many({
    name: `list_migrations_${schema}`,
    row: { name: t.text },
    sql: () => sql`select name from ${sql.id(`${schema}.migrations`)}`,
  });
  try {
    const rows = await listMigrations(db);
    const done = new Set(rows.map(({ name }) => name));
    return migrations.filter((name) => !done.has(name));
  } catch (error) {
    if (missingObjectStates.has(sqlStateOf(error) ?? '')) return [...migrations];
    throw error;
  }
}

/**
 * Resolves when no migration is pending. Logs each reason for waiting once; continues to wait while the database is
 * unavailable.
 */
export async function waitForMigrations(options: {
  db: Database;
  schema: string;
  migrations: readonly string[];
  logger: Logger;
  signal?: AbortSignal;
}): Promise<void> {
  const { db, schema, migrations, logger, signal } = options;
  let logged = '';
  for (;;) {
    signal?.throwIfAborted();
    const pending = await findPendingMigrations(db, schema, migrations).catch(describeFailure);
    if (pending.length === 0) return;
    const state =
      typeof pending === 'string' ? pending : `migrations are pending: ${pending.join(', ')}; run tools/migrate.ts`;
    if (state !== logged) logger.warn({ schema }, `waiting for the database: ${state}`);
    logged = state;
    await sleep(pollMs, undefined, signal === undefined ? {} : { signal });
  }
}

/** Returns a description of the error for the log; it includes the driver's message. */
function describeFailure(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error ? `${String(error)} (${cause.message})` : String(error);
}
