import { type TestEnvironment, waitFor } from '#libs/testing';

type Sql = Pick<TestEnvironment, 'sql'>;
/** Ends the holding, and resolves with how it has ended; it was long enough when that is `stopped`. */
type LetGo = () => Promise<'stopped' | 'over by itself'>;

/**
 * Has somebody else hold what `locking` locks, a select of rows, for a minute or until it is told to let go. Resolves
 * when it holds them.
 */
export function holdLocks(env: Sql, locking: string, params: readonly unknown[] = []): Promise<LetGo> {
  // What sleeps beside `for update` would sleep before it locks.
  return hold(
    env,
    `with held as materialized (${locking}) select pg_sleep(60) from (select count(*) from held) as counted`,
    params,
  );
}

/** Like `holdLocks` for a whole table: nobody reads or writes it meanwhile. */
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
