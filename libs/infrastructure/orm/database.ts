/**
 * Database of one service: a connection pool, prepared statements, transactions for statements and entities, and
 * streams from a cursor.
 */
import pg from 'pg';
import type { SpanAttributes } from '#libs/infrastructure/telemetry';
import { registerConnection, type Connection, Transaction } from './transaction.ts';
import {
  isConnectionError,
  isLostConnection,
  isLostReference,
  isTransient,
  needsAnotherConnection,
  toDatabaseError,
} from './errors.ts';
import { rowParsers } from './parsers.ts';
import { type DatabaseOptions, createPool, type PoolStats } from './pool.ts';
import { WriteCoalescer } from './write-coalescer.ts';
import { describeDatabase, startStatement, traceStatement } from './telemetry.ts';
import { StatementPipeline } from './statement-pipeline.ts';
import type {
  CoalescedPrepared,
  CoalescedRow,
  PreparedStatement,
  Queryable,
  Streamable,
  StreamOptions,
} from '#libs/infrastructure/sql';

/** An open transaction. */
export interface Tx extends Queryable {
  /**
   * Sends the statements in the given order in one round trip; each statement sees the effects of the previous ones.
   * The order does not apply to statements after an `await` inside a function.
   * @throws the first error, after all statements ended
   */
  pipeline<const Statements extends readonly (() => Promise<unknown>)[]>(
    ...statements: Statements
  ): Promise<Results<Statements>>;
  /** Registers a callback that runs after the work and before the `beforeCommit` callbacks, to flush a unit of work. */
  beforeFlush(callback: () => Promise<unknown>): void;
  /** Registers a callback that runs after these and before the `beforeCommit` callbacks: it reads what was written. */
  afterFlush(callback: () => Promise<unknown>): void;
  /**
   * Registers a callback that runs after the work. Its statements are sent together with the commit, so only they may
   * make it fail.
   */
  beforeCommit(callback: () => Promise<unknown>): void;
  /**
   * Registers a callback that runs after a successful commit, in the order of registration. Used for wake-ups; the
   * callback must not throw.
   */
  afterCommit(callback: () => void): void;
}

type Results<Statements extends readonly (() => Promise<unknown>)[]> = {
  readonly [Index in keyof Statements]: Awaited<ReturnType<Statements[Index]>>;
};

export interface Database extends Queryable, Streamable {
  /**
   * Runs `work` in one transaction (read committed). It is retried after serialization failures, deadlocks and lost
   * pooled connections, so it must have no effect outside the database. It is not retried after the commit was sent:
   * without a response it is unknown whether the transaction took effect.
   * @throws AppError `unavailable` when the database is unavailable; otherwise the error of `work`, after a rollback.
   */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /**
   * Resolves when the database responds.
   * @throws AppError `unavailable`
   */
  ping(): Promise<void>;
  /** Returns the numbers of all and idle connections, of callers that wait for a connection, and the limit. */
  stats(): PoolStats;
  /** Waits for running statements, then closes all connections. */
  close(): Promise<void>;
}

/**
 * Maximum statements that share a connection. Further statements use another connection, so that PostgreSQL runs them
 * in parallel.
 */
const readsOfConnection = 16;
/**
 * With this lock timeout, a batch fails when one of its calls has to wait for a lock; the calls then run one by one.
 */
const startTogether = "begin; set local lock_timeout = '100ms'";
const maxAttempts = 6;
/** Idle connections are usually lost all at once, and the pool notices it a moment later. */
const maxLostConnections = 2;
/**
 * Milliseconds that the client waits in addition to the statement timeout, in case the server does not end the
 * statement itself.
 */
const queryTimeoutSlackMs = 5_000;
const planOnce = 'set plan_cache_mode = force_generic_plan';
const planAsUsual = 'reset plan_cache_mode';
const pingStatement: PreparedStatement = { name: 'ping', text: 'select 1' };
/** Keywords of statements that may write; such statements are not retried. */
const writes = /\b(insert|update|delete|merge|create|alter|drop|call|nextval|setval)\b/i;

/**
 * Opens the database of one service. The first connection is opened by the first statement.
 * @throws Error when the URL is malformed; the message does not contain the URL
 */
export async function createDatabase(options: DatabaseOptions): Promise<Database> {
  const statementTimeoutMs = options.statementTimeoutMs ?? 30_000;
  return new PooledDatabase(createPool(options, statementTimeoutMs), options, statementTimeoutMs + queryTimeoutSlackMs);
}

class PooledDatabase implements Database {
  readonly #pool: pg.Pool;
  readonly #queryTimeoutMs: number;
  /** False behind a transaction pooler, where sessions are shared and named statements do not persist. */
  readonly #hasSessions: boolean;
  readonly #described: SpanAttributes;
  readonly #single: StatementPipeline;
  readonly #reads: StatementPipeline;
  readonly #writes: WriteCoalescer;
  #closing: Promise<void> | undefined;

  constructor(pool: pg.Pool, options: DatabaseOptions, queryTimeoutMs: number) {
    this.#pool = pool;
    this.#queryTimeoutMs = queryTimeoutMs;
    this.#hasSessions = options.pooled !== true;
    this.#described = describeDatabase(options.url, options.schema);
    const connect = (): Promise<pg.PoolClient> => this.#connect();
    this.#single = new StatementPipeline(connect, 1);
    this.#reads = new StatementPipeline(connect, readsOfConnection);
    this.#writes = new WriteCoalescer({
      alone: async (item, values) => (await this.#query<CoalescedRow>(item, toLists(values)))[0],
      runBatch: (item, columns) => this.#runTogether(item, columns),
      isFinal: isConnectionError,
    });
  }

  query<Row>(item: PreparedStatement, params: readonly unknown[] = []): Promise<Row[]> {
    const span = startStatement(this.#described, item.text, item.name);
    return span === undefined
      ? this.#query<Row>(item, params)
      : traceStatement(span, () => this.#query<Row>(item, params));
  }

  coalesce<Row extends CoalescedRow>(item: CoalescedPrepared, values: readonly unknown[]): Promise<Row | undefined> {
    const run = (): Promise<Row | undefined> => this.#writes.run(item, values) as Promise<Row | undefined>;
    const span = startStatement(this.#described, item.text, item.name);
    return span === undefined ? run() : traceStatement(span, run);
  }

  async #query<Row>(item: PreparedStatement, params: readonly unknown[]): Promise<Row[]> {
    return this.#retry(async () => {
      try {
        return await this.#pipelineOf(item).run((client) => this.#run<Row>(client, item, params));
      } catch (error) {
        throw writes.test(item.text) ? toDatabaseError(error) : error;
      }
    });
  }

  #pipelineOf({ pipelined }: PreparedStatement): StatementPipeline {
    return pipelined === undefined ? this.#single : this.#reads;
  }

  /**
   * Sends `begin`, the statement and `commit` in one write. @throws AppError `unavailable` when it is unknown whether
   * the transaction took effect
   */
  async #runTogether(item: CoalescedPrepared, columns: readonly unknown[][]): Promise<readonly CoalescedRow[]> {
    const client = await this.#connect();
    let broken = false;
    try {
      const work = [
        client.query(startTogether),
        this.#run<CoalescedRow>(client, item, columns),
        client.query('commit'),
      ] as const;
      const [, written, committed] = await Promise.allSettled(work);
      // A failed statement turns the commit into a rollback. The statement's error is more precise than the commit's.
      if (written.status === 'rejected') throw written.reason;
      if (committed.status === 'rejected') throw committed.reason;
      return written.value;
    } catch (error) {
      broken = needsAnotherConnection(error) || isConnectionError(error);
      throw isConnectionError(error) ? toDatabaseError(error) : error;
    } finally {
      client.release(broken);
    }
  }

  async transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#retry(() => this.#attempt(work));
  }

  async *stream<Row>(
    item: PreparedStatement,
    params: readonly unknown[],
    options: StreamOptions,
  ): AsyncIterable<Row[]> {
    const { batchSize, firstBatchSize = batchSize, planner = {} } = options;
    let client: pg.PoolClient | undefined;
    let failed = true;
    const span = startStatement(this.#described, item.text, item.name);
    const settings = Object.entries(planner).map(
      ([name, value]) => `; set local ${pg.escapeIdentifier(name)} = ${pg.escapeLiteral(value)}`,
    );
    try {
      // An SQL cursor, so that each batch has its own time limit. The first statements are sent together: a result of
      // one batch takes one round trip, and its commit is sent while the batch is consumed.
      const opened = await this.#retry(async () => {
        client?.release(true);
        client = undefined;
        client = await this.#connect();
        const [, , first] = await Promise.all([
          client.query(`begin read only${settings.join('')}`),
          client.query(`declare batches no scroll cursor for ${item.text}`, params as unknown[]),
          fetchBatch<Row>(client, firstBatchSize),
        ]);
        return { connection: client, first };
      });
      const { connection } = opened;
      let rows = opened.first;
      let requested = firstBatchSize;
      for (;;) {
        const end = rows.length < requested ? Promise.allSettled([connection.query('commit')]) : undefined;
        let isAbandoned = rows.length > 0;
        try {
          if (isAbandoned) yield rows;
          isAbandoned = false;
        } finally {
          if (isAbandoned) {
            await (end ?? connection.query('rollback'));
            failed = false;
          }
        }
        if (end !== undefined) {
          const [committed] = await end;
          if (committed.status === 'rejected') throw committed.reason;
          break;
        }
        requested = batchSize;
        rows = await fetchBatch<Row>(connection, requested);
      }
      failed = false;
    } catch (error) {
      throw toDatabaseError(error);
    } finally {
      client?.release(failed);
      span?.end({ error: failed ? 'failed' : undefined });
    }
  }

  async ping(): Promise<void> {
    await this.query(pingStatement);
  }

  stats(): PoolStats {
    const { totalCount: total, idleCount: idle, waitingCount: waiting, options } = this.#pool;
    return { total, idle, waiting, max: options.max };
  }

  close(): Promise<void> {
    this.#closing ??= this.#pool.end();
    return this.#closing;
  }

  async #run<Row>(
    client: Connection,
    { name, text, planned }: PreparedStatement,
    params: readonly unknown[],
  ): Promise<Row[]> {
    const config: pg.QueryConfig & { query_timeout: number } = {
      // PostgreSQL stores no plan for unnamed statements.
      ...(planned === 'each-call' || !this.#hasSessions ? {} : { name }),
      text,
      values: params as unknown[],
      types: rowParsers,
      query_timeout: this.#queryTimeoutMs,
    };
    if (planned !== 'once' || !this.#hasSessions) return (await client.query(config)).rows as Row[];
    // PostgreSQL chooses the plan when the values arrive, so the setting is sent before the values and reset after
    // them.
    const [, result] = await Promise.allSettled([
      client.query(planOnce),
      client.query(config),
      client.query(planAsUsual),
    ]);
    if (result.status === 'rejected') throw result.reason;
    return result.value.rows as Row[];
  }

  /**
   * @throws AppError `unavailable`. A failed attempt to connect is not retried; a statement on a lost connection is.
   */
  async #connect(): Promise<pg.PoolClient> {
    return this.#pool.connect().catch((error: unknown) => {
      throw toDatabaseError(error);
    });
  }

  async #attempt<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    const transaction = new Transaction(await this.#connect());
    let open = true;
    const written: (() => Promise<unknown>)[] = [];
    const flushed: (() => Promise<unknown>)[] = [];
    const last: (() => Promise<unknown>)[] = [];
    const callbacks: (() => void)[] = [];
    const tx: Tx = {
      query: async (item, params = []) => {
        if (!open) throw new Error(`The transaction of statement "${item.name}" is over`);
        const span = startStatement(this.#described, item.text, item.name);
        return span === undefined
          ? this.#run(transaction, item, params)
          : traceStatement(span, () => this.#run(transaction, item, params));
      },
      coalesce: async <Row extends CoalescedRow>(item: CoalescedPrepared, values: readonly unknown[]) =>
        (await tx.query<Row>(item, toLists(values)))[0],
      pipeline,
      beforeFlush: (callback) => void written.push(callback),
      afterFlush: (callback) => void flushed.push(callback),
      beforeCommit: (callback) => {
        if (!open) throw new Error('The transaction is over');
        last.push(callback);
      },
      afterCommit: (callback) => void callbacks.push(callback),
    };
    registerConnection(tx, transaction.client);
    let result: T;
    try {
      result = await work(tx);
      for (const callback of [...written, ...flushed]) await callback();
      const statements = Promise.all(last.map((callback) => callback()));
      open = false;
      // A failed statement turns the commit into a rollback. The statement's error is more precise than the commit's.
      const [ended, committed] = await Promise.allSettled([statements, transaction.commit()]);
      if (ended.status === 'rejected') throw ended.reason;
      if (committed.status === 'rejected') throw committed.reason;
    } catch (thrown) {
      open = false;
      const error = transaction.explain(thrown);
      if (needsAnotherConnection(error) || isConnectionError(error)) transaction.broken = true;
      await transaction.rollback();
      throw transaction.hasHappened ? toDatabaseError(error) : error;
    }
    for (const callback of callbacks) callback();
    return result;
  }

  async #retry<T>(run: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await run();
      } catch (error) {
        if (attempt >= this.#attemptsAfter(error)) throw toDatabaseError(error);
        await pauseBefore(attempt);
      }
    }
  }

  #attemptsAfter(error: unknown): number {
    if (needsAnotherConnection(error)) return this.#pool.options.max + 1; // each connection may have the problem
    if (isTransient(error) || isLostReference(error)) return maxAttempts;
    return isLostConnection(error) ? 1 + maxLostConnections : 1;
  }
}

/** See `Tx.pipeline`. */
async function pipeline<const Statements extends readonly (() => Promise<unknown>)[]>(
  ...statements: Statements
): Promise<Results<Statements>> {
  const outcomes = await Promise.allSettled(statements.map((send) => send()));
  return outcomes.map((outcome) => {
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  }) as unknown as Results<Statements>;
}

/** Converts each value of a call to a list of one value. */
function toLists(values: readonly unknown[]): unknown[][] {
  return values.map((value) => [value]);
}

async function fetchBatch<Row>(client: pg.PoolClient, count: number): Promise<Row[]> {
  return (await client.query<Row & pg.QueryResultRow>({ text: `fetch ${count} from batches`, types: rowParsers })).rows;
}

/** Waits a random time, so that transactions do not collide again. */
function pauseBefore(attempt: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.random() * 10 * 2 ** Math.min(attempt, 6)));
}
