/**
 * The session that owns the migration lock for a whole run. It waits for other sessions, and monitors and cancels the
 * steps.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Logger } from '#libs/infrastructure/logger';
import { refusesStartOptions, sqlStateOf, toDatabaseError } from '../errors.ts';
import { createHostPool, listHosts, splitStartOptions } from '../hosts.ts';
import {
  describeLockHolders,
  describeSessions,
  type Session,
  sessionColumns,
  tryLockForMigration,
  unlockAfterMigration,
  MigrationError,
} from '../migration-lock.ts';

export interface RunOptions {
  readonly url: string;
  readonly logger: Logger;
  /** Cancels the running statement and ends the run; completed steps remain. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Milliseconds to wait for another migration, a backup, open transactions or the locks of one step; default 300 000.
   */
  readonly waitMs?: number | undefined;
  /** The run waits for open transactions older than this, in milliseconds; default 60 000. */
  readonly oldTransactionMs?: number | undefined;
  /** Milliseconds that a step waits for a lock before it is retried; default 2 000. */
  readonly lockTimeoutMs?: number | undefined;
}

export interface MigrationRun {
  readonly options: RunOptions;
  readonly signal: AbortSignal;
  readonly lockTimeoutMs: number;
  /** Runs a step and retries it while it fails only because of locks of other sessions. */
  retry<T>(what: string, work: () => Promise<T>): Promise<T>;
  /** Waits before the first pending migration until no transaction is older than `oldTransactionMs`. */
  waitForTransactions(): Promise<void>;
  /** Monitors the client's statements until `unwatch`, and cancels them when the run is cancelled. */
  watch(client: pg.PoolClient): void;
  unwatch(client: pg.PoolClient): void;
  close(): Promise<void>;
}

const pollMs = 500;
const sayEveryMs = 15_000;
/** Shorter waits of a step are not logged. */
const sayFirstMs = 3_000;
const watchEveryMs = 1_000;
/** SQLSTATEs: lock timeout, deadlock, serialization failure. */
const lockStates = new Set(['55P03', '40P01', '40001']);
const lockSchema = 'coherence_migration';

/**
 * Acquires the migration lock and returns the run.
 * @throws MigrationError when another migration or a backup does not end in time
 */
export async function openMigrationRun(options: RunOptions): Promise<MigrationRun> {
  const { hosts, startOptions } = splitStartOptions(listHosts(options.url));
  const settings = {
    options: `${startOptions} -c search_path=${lockSchema} -c statement_timeout=0`,
    application_name: 'migrate',
    max: 1,
  };
  const pool = createHostPool({ ...settings, connectionTimeoutMillis: 10_000 }, hosts);
  pool.on('error', () => {});
  try {
    const session = await pool.connect();
    const lost = new AbortController();
    session.on('error', (error: Error) =>
      lost.abort(new MigrationError(`the session that holds the lock was lost: ${error.message}`)),
    );
    await refusePooler(session).catch((error: unknown) => {
      session.release(true);
      throw error;
    });
    const signals = [lost.signal, ...(options.signal === undefined ? [] : [options.signal])];
    const run = new Run(session, options, AbortSignal.any(signals), () => pool.end());
    await run.lock().catch(async (error: unknown) => {
      await run.close();
      throw run.signal.aborted ? new MigrationError('the migration was interrupted before it began') : error;
    });
    return run;
  } catch (error) {
    if (!pool.ending) await pool.end();
    throw toRunError(error);
  }
}

/**
 * Rejects connections through a pooler. A pooler that drops startup settings does not preserve session locks either.
 */
async function refusePooler(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ path: string }>(`select current_setting('search_path') as path`);
  if (rows[0]?.path !== lockSchema) throw throughPooler();
}

const throughPooler = (): Error =>
  new MigrationError(
    'the address of the migration leads through a pooler: it must lead straight to PostgreSQL, one session of which holds the lock',
  );

/** Converts an error for callers of the library: to a MigrationError when the connection uses a pooler. */
export function toRunError(error: unknown): unknown {
  if (error instanceof MigrationError) return error;
  return refusesStartOptions.test((error as Error).message) ? throughPooler() : toDatabaseError(error);
}

/**
 * Returns true for errors that a retry can resolve. Two migrations of different databases can change the same role,
 * because roles belong to the server.
 */
function isPassing(error: unknown): boolean {
  return lockStates.has(sqlStateOf(error) ?? '') || (error as Error).message.includes('tuple concurrently updated');
}

class Run implements MigrationRun {
  readonly options: RunOptions;
  readonly signal: AbortSignal;
  readonly lockTimeoutMs: number;
  readonly #session: pg.PoolClient;
  readonly #end: () => Promise<void>;
  readonly #waitMs: number;
  readonly #watched = new Set<pg.PoolClient>();
  readonly #watcher: NodeJS.Timeout;
  /** Sessions that blocked a step at the last check. */
  #blockers: readonly Session[] = [];
  #saidAt = 0;
  #waited = false;
  /** The last statement sent on the session. The next statement waits for it. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(session: pg.PoolClient, options: RunOptions, signal: AbortSignal, end: () => Promise<void>) {
    this.#session = session;
    this.options = options;
    this.signal = signal;
    this.#end = end;
    this.#waitMs = options.waitMs ?? 300_000;
    this.lockTimeoutMs = options.lockTimeoutMs ?? 2_000;
    signal.addEventListener('abort', () => void this.#cancel());
    // Cancelling is repeated, since it has no effect between two statements of a transaction.
    this.#watcher = setInterval(() => void (signal.aborted ? this.#cancel() : this.#look()), watchEveryMs).unref();
  }

  async #ask<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
    const result = this.#last.catch(() => {}).then(() => this.#session.query<Row>(text, values));
    this.#last = result;
    return (await result).rows;
  }

  async lock(): Promise<void> {
    const locked = await this.#waitUntil(
      async () => ((await tryLockForMigration(this.#session)) ? undefined : describeLockHolders(this.#session)),
      (holders) => `waiting for another migration or a backup: ${holders}`,
    );
    if (locked !== undefined)
      throw new MigrationError(`another migration or a backup did not end in time: ${locked}. Nothing was changed`);
  }

  async waitForTransactions(): Promise<void> {
    if (this.#waited) return;
    this.#waited = true;
    const [role] = await this.#ask<{ sees: boolean }>(`select pg_has_role('pg_read_all_stats', 'usage') as sees`);
    if (role?.sees !== true) {
      this.options.logger.warn(
        {},
        'open transactions of other roles are not visible: grant pg_read_all_stats to the role of the migration',
      );
    }
    const left = await this.#waitUntil(
      async () => {
        const old = await this.#findOldTransactions();
        return old.length === 0 ? undefined : describeSessions(old);
      },
      (old) => `waiting for open transactions: ${old}`,
    );
    if (left === undefined) return;
    throw new MigrationError(
      `transactions are open for too long: ${left}. End them, or run the migration again later. Nothing was changed`,
    );
  }

  #findOldTransactions(): Promise<Session[]> {
    return this.#ask<Session & pg.QueryResultRow>(
      `select ${sessionColumns} from pg_stat_activity a where a.datname = current_database() and a.backend_type = 'client backend' and a.pid <> pg_backend_pid()
         and a.xact_start < clock_timestamp() - $1 * interval '1 millisecond'
       union all
       select null, 'prepared transaction ' || gid, owner, extract(epoch from clock_timestamp() - prepared)::integer from pg_prepared_xacts
         where database = current_database() and prepared < clock_timestamp() - $1 * interval '1 millisecond'
       order by seconds desc`,
      [this.options.oldTransactionMs ?? 60_000],
    );
  }

  /** Polls until `look` returns undefined. @returns undefined, or the last reason to wait when the time is over */
  async #waitUntil(
    look: () => Promise<string | undefined>,
    say: (state: string) => string,
  ): Promise<string | undefined> {
    const deadline = performance.now() + this.#waitMs;
    let saidAt = -sayEveryMs;
    for (;;) {
      this.signal.throwIfAborted();
      const state = await look();
      const now = performance.now();
      if (state === undefined || now >= deadline) return state;
      if (now - saidAt >= sayEveryMs) {
        this.options.logger.warn({ seconds_left: Math.ceil((deadline - now) / 1_000) }, say(state));
        saidAt = now;
      }
      await sleep(Math.min(pollMs, deadline - now), undefined, { signal: this.signal });
    }
  }

  async retry<T>(what: string, work: () => Promise<T>): Promise<T> {
    const deadline = performance.now() + this.#waitMs;
    for (let attempt = 1; ; attempt++) {
      this.signal.throwIfAborted();
      this.#blockers = [];
      try {
        return await work();
      } catch (error) {
        if (this.signal.aborted || !isPassing(error)) throw error;
        const blockers = this.#blockers.length === 0 ? await this.#findUsers() : this.#blockers;
        const holders = blockers.length === 0 ? 'none any more' : describeSessions(blockers);
        // During this pause, requests that were queued after the step can run.
        const pauseMs = Math.min(250 * 2 ** attempt, 15_000) * (0.75 + Math.random() / 2);
        if (performance.now() + pauseMs > deadline) {
          throw new MigrationError(
            `${what} did not get its locks in ${this.#waitMs / 1_000} s, which others hold: ${holders}`,
            {
              cause: error,
            },
          );
        }
        this.options.logger.warn(
          { attempt, pause_ms: Math.round(pauseMs) },
          `${what} did not get its locks, retrying. Held by: ${holders}`,
        );
        await sleep(pauseMs, undefined, { signal: this.signal });
      }
    }
  }

  watch(client: pg.PoolClient): void {
    this.#watched.add(client);
    this.#saidAt = performance.now() - sayEveryMs + sayFirstMs;
  }

  unwatch(client: pg.PoolClient): void {
    this.#watched.delete(client);
  }

  get #pids(): number[] {
    return [...this.#watched].flatMap((client) => (client as pg.PoolClient & { processID?: number }).processID ?? []);
  }

  /** Logs what a step waits for; periodically for steps without a time limit (concurrent index builds). */
  async #look(): Promise<void> {
    if (this.#watched.size === 0) return;
    try {
      const rows = await this.#ask<Session & pg.QueryResultRow>(
        `select ${sessionColumns} from pg_stat_activity a
         where a.pid in (select unnest(pg_blocking_pids(pid)) from unnest($1::integer[]) as pid) order by pid`,
        [this.#pids],
      );
      if (rows.length === 0) return;
      this.#blockers = rows;
      if (performance.now() - this.#saidAt < sayEveryMs) return;
      this.#saidAt = performance.now();
      this.options.logger.warn({}, `the migration waits for ${describeSessions(rows)}`);
    } catch {
      // The error is ignored: a lost session ends the run.
    }
  }

  /** Returns sessions with locks on tables; used when a step failed before its blockers were recorded. */
  #findUsers(): Promise<Session[]> {
    return this.#ask<Session & pg.QueryResultRow>(
      `select ${sessionColumns} from pg_stat_activity a where a.pid <> all($1::integer[]) and a.pid <> pg_backend_pid() and a.pid in
         (select l.pid from pg_locks l join pg_class c on c.oid = l.relation where l.granted and c.relkind in ('r', 'p') and c.oid >= 16384
            and l.database = (select oid from pg_database where datname = current_database())) order by pid`,
      [this.#pids],
    );
  }

  async #cancel(): Promise<void> {
    await this.#ask('select pg_cancel_backend(pid) from unnest($1::integer[]) as pid', [this.#pids]).catch(() => {});
  }

  async close(): Promise<void> {
    clearInterval(this.#watcher);
    await this.#last.catch(() => {});
    await unlockAfterMigration(this.#session).catch(() => {}); // an error is ignored: the lock of a lost session is already released
    this.#session.release(true);
    await this.#end();
  }
}
