import { type TestEnvironment, waitFor } from '#libs/testing';

/**
 * Has somebody else hold what `locking` locks, a select of rows, for a minute or until it is told to let go. Resolves when it holds them.
 * @returns lets go, and resolves with how the holding has ended; it was long enough when that is `stopped`
 */
export async function holdLocks(
  { sql }: Pick<TestEnvironment, 'sql'>,
  locking: string,
  params: readonly unknown[] = [],
): Promise<() => Promise<'stopped' | 'over by itself'>> {
  // What sleeps beside `for update` would sleep before it locks.
  const ended = sql(`with held as materialized (${locking}) select pg_sleep(60) from (select count(*) from held) as counted`, params).then(
    () => 'over by itself' as const,
    () => 'stopped' as const,
  );
  const holder = `from pg_stat_activity where datname = current_database() and query like 'with held as%' and wait_event = 'PgSleep'`;
  await waitFor(async () => (await sql(`select 1 ${holder}`)).length === 1);
  return async () => {
    await sql(`select pg_cancel_backend(pid) ${holder}`);
    return ended;
  };
}
