import { setTimeout as sleep } from 'node:timers/promises';

/** Long enough for a machine several times slower than usual; only reached on failure. */
const defaultTimeoutMs = 60_000;

/**
 * Calls `attempt` repeatedly until it returns something other than `undefined`, `null` or `false` without throwing.
 * @returns the returned value
 * @throws Error after `timeoutMs` (default 60 000) with the last attempt's error or result
 */
export async function waitFor<T>(
  attempt: () => T | Promise<T>,
  options: { timeoutMs?: number; intervalMs?: number; what?: string } = {},
): Promise<Exclude<T, undefined | null | false>> {
  const timeoutMs = options.timeoutMs ?? defaultTimeoutMs;
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    let last: unknown;
    try {
      const result = await attempt();
      if (result !== undefined && result !== null && result !== false)
        return result as Exclude<T, undefined | null | false>;
      last = `the last attempt returned ${String(result)}`;
    } catch (error) {
      last = error;
    }
    if (performance.now() > deadline) {
      const reason = last instanceof Error ? last.message : String(last);
      throw new Error(`waited ${timeoutMs} ms for ${options.what ?? 'a condition'}: ${reason}`, { cause: last });
    }
    await sleep(options.intervalMs ?? 25);
  }
}

interface LockWait {
  /** Application name of the connection: the name of the service, or a name that the test set. */
  readonly application: string;
  readonly statement: string;
}
type Sql = <Row>(text: string) => Promise<Row[]>;

/** Returns the connections that currently wait for a lock in this database. */
export const listLockWaits = (sql: Sql): Promise<LockWait[]> =>
  sql<LockWait>(
    `select application_name as application, query as statement from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  );

/**
 * Resolves when a connection of this database waits for a lock; `application` limits this to connections with this
 * name.
 */
export async function waitForLockWait(sql: Sql, application?: string): Promise<void> {
  await waitFor(
    async () =>
      (await listLockWaits(sql)).some((wait) => application === undefined || wait.application === application),
    {
      what: `${application ?? 'somebody'} to wait for a lock`,
    },
  );
}
