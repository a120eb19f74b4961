import { type TestEnvironment, waitFor } from '#libs/product/testing';

type Sql = Pick<TestEnvironment, 'sql'>;
/**
 * Releases the locks and returns how the holding session ended. `stopped` means that the session held the locks until
 * this call.
 */
type LetGo = () => Promise<'stopped' | 'over by itself'>;

/**
 * Locks rows in another database session for one minute or until the returned function is called. `locking` is the
 * statement that selects and locks the rows. Resolves when the rows are locked.
 */
export function holdLocks(env: Sql, locking: string, params: readonly unknown[] = []): Promise<LetGo> {
  // With `pg_sleep` in the same select as `for update`, PostgreSQL would sleep before it locks the rows.
  return hold(
    env,
    `with held as materialized (${locking}) select pg_sleep(60) from (select count(*) from held) as counted`,
    params,
  );
}

/** Like `holdLocks`, for a whole table: other sessions cannot read or write the table meanwhile. */
export function holdTable(env: Sql, table: string): Promise<LetGo> {
  return hold(env, `do $$ begin lock table ${table}; perform pg_sleep(60); end $$`, []);
}

async function hold({ sql }: Sql, statement: string, params: readonly unknown[]): Promise<LetGo> {
  const ended = sql(statement, params).then(
    () => 'over by itself' as const,
    () => 'stopped' as const,
  );
  const holder = 'from pg_stat_activity where datname = current_database() and query = $1 and wait_event = $2';
  const sleeping = [statement, 'PgSleep'];
  await waitFor(async () => (await sql(`select 1 ${holder}`, sleeping)).length === 1);
  return async () => {
    await sql(`select pg_cancel_backend(pid) ${holder}`, sleeping);
    return ended;
  };
}
