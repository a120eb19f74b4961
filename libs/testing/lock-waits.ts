import { waitFor } from './wait-for.ts';

interface LockWait {
  /** Name of the connection: the service, or what a test calls itself. */
  readonly application: string;
  readonly statement: string;
}
type Sql = <Row>(text: string) => Promise<Row[]>;

/** Who waits for a lock in this database now. */
export const listLockWaits = (sql: Sql): Promise<LockWait[]> =>
  sql<LockWait>(
    `select application_name as application, query as statement from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  );

/** Resolves when somebody waits for a lock in this database; with `application`, when that one does. */
export async function waitForLockWait(sql: Sql, application?: string): Promise<void> {
  await waitFor(async () => (await listLockWaits(sql)).some((wait) => application === undefined || wait.application === application), {
    what: `${application ?? 'somebody'} to wait for a lock`,
  });
}
