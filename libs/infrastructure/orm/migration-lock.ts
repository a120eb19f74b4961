/**
 * One advisory lock for the whole database: a migration acquires it exclusively, backups and restores acquire it
 * shared.
 */
import type pg from 'pg';

const migrationLock = 0x636f6865; // 'cohe'
/** Table in which an online migration stores its progress; dropped when the migration is complete. */
export const progressTable = 'migration_progress';

/**
 * Tries to acquire the migration lock for the session and returns whether it succeeded. Requires a direct connection to
 * PostgreSQL.
 */
export async function tryLockForMigration(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ locked: boolean }>('select pg_try_advisory_lock($1) as locked', [
    migrationLock,
  ]);
  return rows[0]?.locked === true;
}

export async function unlockAfterMigration(client: pg.ClientBase): Promise<void> {
  await client.query('select pg_advisory_unlock($1)', [migrationLock]);
}

/**
 * Blocks migrations until the client's transaction ends. The lock belongs to the transaction, so it also works through
 * a pooler.
 * @throws MigrationError that names the running migration
 */
export async function keepMigrationsAway(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ locked: boolean }>('select pg_try_advisory_xact_lock_shared($1) as locked', [
    migrationLock,
  ]);
  if (rows[0]?.locked === true) return;
  const holders = await describeLockHolders(client);
  throw new MigrationError(`a migration is running (${holders}): try again when it has ended`);
}

/**
 * Rejects schemas between two releases, whose tables do not match their migration history.
 * @throws MigrationError
 */
export async function refuseInterrupted(client: pg.ClientBase, schemas: readonly string[]): Promise<void> {
  const { rows } = await client.query<{ schema: string }>(
    `select nspname as schema from pg_class c join pg_namespace n on n.oid = c.relnamespace where relname = $1 and nspname = any($2) order by 1`,
    [progressTable, schemas],
  );
  if (rows.length === 0) return;
  throw new MigrationError(
    `a migration of schema ${rows.map(({ schema }) => schema).join(', ')} is not complete: run \`node tools/migrate.ts\` first`,
  );
}

/**
 * Returns a description of the sessions that own the migration lock, for messages. Every role can see process id,
 * application and role of a session.
 */
export async function describeLockHolders(client: pg.ClientBase): Promise<string> {
  const { rows } = await client.query<Session>(
    `select ${sessionColumns} from pg_locks l join pg_stat_activity a using (pid)
     where l.locktype = 'advisory' and l.database = (select oid from pg_database where datname = current_database())
       and l.classid = 0 and l.objid = $1::oid and l.objsubid = 1 and l.granted and a.pid <> pg_backend_pid() order by pid`,
    [migrationLock],
  );
  return rows.length === 0 ? 'it has just ended' : describeSessions(rows);
}

/** A database session; `seconds` is the age of its transaction or session, null when the role cannot see it. */
export interface Session {
  readonly pid: number | null;
  readonly application: string;
  readonly role: string;
  readonly seconds: number | null;
}

/** Columns of `Session` from pg_stat_activity as `a`. */
export const sessionColumns = `a.pid, coalesce(a.application_name, '') as application, coalesce(a.usename, '') as role,
  extract(epoch from clock_timestamp() - coalesce(a.xact_start, a.backend_start))::integer as seconds`;

export function describeSessions(sessions: readonly Session[]): string {
  const all = sessions.slice(0, 5).map(({ pid, application, role, seconds }) => {
    const parts = [
      pid === null ? '' : `pid ${pid}`,
      role === '' ? '' : `role ${role}`,
      seconds === null ? '' : `for ${describeAge(seconds)}`,
    ];
    return `${application === '' ? 'unnamed application' : application} (${parts.filter((part) => part !== '').join(', ')})`;
  });
  return [...all, ...(sessions.length > 5 ? [`and ${sessions.length - 5} more`] : [])].join(', ');
}

function describeAge(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7_200 ? `${Math.floor(seconds / 60)} min` : `${Math.floor(seconds / 3_600)} h`;
}

/** Explains to the operator why a migration did not run or complete, or which action it blocks. */
export class MigrationError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'MigrationError';
  }
}
