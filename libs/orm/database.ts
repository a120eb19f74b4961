/**
 * One service's database: a pool, prepared statements, transactions shared by statements and entities, streams from a cursor.
 */
import pg from 'pg';
import type { SpanAttributes } from '#libs/telemetry';
import { registerConnection, type Connection, Transaction } from './transaction.ts';
import { isConnectionError, isLostConnection, needsAnotherConnection, isTransient, toDatabaseError } from './errors.ts';
import { rowParsers } from './parsers.ts';
import { type DatabaseOptions, createPool } from './pool.ts';
import { WriteCoalescer } from './write-coalescer.ts';
import { describeDatabase, startStatement, traceStatement } from './telemetry.ts';
import { StatementPipeline } from './statement-pipeline.ts';
import type { CoalescedPrepared, CoalescedRow, PreparedStatement, Queryable, Streamable, StreamOptions } from '#libs/sql';

/** An open transaction. */
export interface Tx extends Queryable {
  /**
   * Sends the statements in this order, without waiting in between: they share one round trip, and each sees the effects of those before it. Of a
   * function only the statements that it issues before its first `await` are in order.
   * @throws the error of the first statement that failed, after all have ended
   */
  pipeline<const Statements extends readonly (() => Promise<unknown>)[]>(...statements: Statements): Promise<Results<Statements>>;
  /** Calls back when the work is done and before `beforeCommit` is: what a unit of work has gathered is written then. */
  beforeFlush(callback: () => Promise<unknown>): void;
  /**
   * Calls back when the work is done: the statements that `callback` issues at once travel with the commit, in one round trip. It may fail
   * only by them.
   */
  beforeCommit(callback: () => Promise<unknown>): void;
  /** Calls back after a successful commit, in the order of registration; for wake-ups only, it must not throw. */
  afterCommit(callback: () => void): void;
}

type Results<Statements extends readonly (() => Promise<unknown>)[]> = {
  readonly [Index in keyof Statements]: Awaited<ReturnType<Statements[Index]>>;
};

export interface Database extends Queryable, Streamable {
  /**
   * Runs `work` in one transaction (read committed). Serialization failures, deadlocks and a pooled connection that turns out to be lost
   * run it again from the start, so it must have no effect outside the database. Once the commit is sent nothing but an answer to it may: without
   * one it is not known whether the transaction took effect, and a server that took over need not know its number.
   * @throws AppError `unavailable` when the database is away; whatever `work` throws otherwise, after a rollback.
   */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** @throws AppError `unavailable`. */
  ping(): Promise<void>;
  /** Connections now: open, unused, and callers that wait for one. */
  stats(): { total: number; idle: number; waiting: number; max: number };
  /** Waits for what runs, then closes every connection. */
  close(): Promise<void>;
}

/** Statements that share a connection at most; more take another, so that PostgreSQL works on them side by side. */
const readsOfConnection = 16;
/** Writes that travel together wait no longer for a lock: one that must goes on alone. */
const beginTogether = "begin; set local lock_timeout = '100ms'";
const maxAttempts = 6;
/** Connections that are lost while nobody uses them are mostly lost all at once, and the pool notices it a moment later. */
const maxLostConnections = 2;
/** The client gives up on a server that does not even end its own statement. */
const queryTimeoutSlackMs = 5_000;
const planOnce = 'set plan_cache_mode = force_generic_plan';
const planAsUsual = 'reset plan_cache_mode';
const pingStatement: PreparedStatement = { name: 'ping', text: 'select 1' };
/** Words of a statement that may change something: it does not run twice. */
const writes = /\b(insert|update|delete|merge|create|alter|drop|call|nextval|setval)\b/i;

/**
 * Opens the database of one service. Nothing is connected before the first statement.
 * @throws Error when the URL is malformed (its text is not repeated).
 */
export async function createDatabase(options: DatabaseOptions): Promise<Database> {
  const statementTimeoutMs = options.statementTimeoutMs ?? 30_000;
  return new PooledDatabase(createPool(options, statementTimeoutMs), options, statementTimeoutMs + queryTimeoutSlackMs);
}

class PooledDatabase implements Database {
  readonly #pool: pg.Pool;
  readonly #queryTimeoutMs: number;
  /** Each connection is a session of PostgreSQL, which remembers the plans of named statements. */
  readonly #keepsPlans: boolean;
  readonly #described: SpanAttributes;
  readonly #single: StatementPipeline;
  readonly #reads: StatementPipeline;
  readonly #writes: WriteCoalescer;
  #closing: Promise<void> | undefined;

  constructor(pool: pg.Pool, options: DatabaseOptions, queryTimeoutMs: number) {
    this.#pool = pool;
    this.#queryTimeoutMs = queryTimeoutMs;
    this.#keepsPlans = options.pooled !== true;
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
    return span === undefined ? this.#query<Row>(item, params) : traceStatement(span, () => this.#query<Row>(item, params));
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

  /** All of it is one write to the connection. @throws AppError `unavailable` when it is not known whether it took effect */
  async #runTogether(item: CoalescedPrepared, columns: readonly unknown[][]): Promise<readonly CoalescedRow[]> {
    const client = await this.#connect();
    let broken = false;
    try {
      const work = [client.query(beginTogether), this.#run<CoalescedRow>(client, item, columns), client.query('commit')] as const;
      const [, written, committed] = await Promise.allSettled(work);
      // A statement that fails turns the commit behind it into a rollback; its own error says more.
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

  async *stream<Row>(item: PreparedStatement, params: readonly unknown[], options: StreamOptions): AsyncIterable<Row[]> {
    const { batchSize, firstBatchSize = batchSize, planner = {} } = options;
    let client: pg.PoolClient | undefined;
    let failed = true;
    const span = startStatement(this.#described, item.text, item.name);
    const settings = Object.entries(planner).map(
      ([name, value]) => `; set local ${pg.escapeIdentifier(name)} = ${pg.escapeLiteral(value)}`,
    );
    try {
      // A cursor of SQL, so that each batch is a statement with a time limit of its own, however long the reader takes for all. What is
      // sure to be needed travels together: an answer of one batch takes one round trip, and its commit is under way while it is read.
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

  stats(): { total: number; idle: number; waiting: number; max: number } {
    const { totalCount: total, idleCount: idle, waitingCount: waiting, options } = this.#pool;
    return { total, idle, waiting, max: options.max };
  }

  close(): Promise<void> {
    this.#closing ??= this.#pool.end();
    return this.#closing;
  }

  async #run<Row>(client: Connection, { name, text, planned }: PreparedStatement, params: readonly unknown[]): Promise<Row[]> {
    const config: pg.QueryConfig & { query_timeout: number } = {
      // Without a name PostgreSQL keeps no plan.
      ...(planned === 'each-call' || !this.#keepsPlans ? {} : { name }),
      text,
      values: params as unknown[],
      types: rowParsers,
      query_timeout: this.#queryTimeoutMs,
    };
    if (planned !== 'once' || !this.#keepsPlans) return (await client.query(config)).rows as Row[];
    // PostgreSQL decides when the values arrive, so the setting travels before them and is taken back behind them.
    const [, result] = await Promise.allSettled([client.query(planOnce), client.query(config), client.query(planAsUsual)]);
    if (result.status === 'rejected') throw result.reason;
    return result.value.rows as Row[];
  }

  /** @throws AppError `unavailable`: who cannot connect does not try again, in contrast to one whose connection was lost. */
  async #connect(): Promise<pg.PoolClient> {
    return this.#pool.connect().catch((error: unknown) => {
      throw toDatabaseError(error);
    });
  }

  async #attempt<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    const transaction = new Transaction(await this.#connect());
    let open = true;
    const written: (() => Promise<unknown>)[] = [];
    const last: (() => Promise<unknown>)[] = [];
    const callbacks: (() => void)[] = [];
    const tx: Tx = {
      query: async (item, params = []) => {
        if (!open) throw new Error(`The transaction of statement "${item.name}" is over`);
        const span = startStatement(this.#described, item.text, item.name);
        return span === undefined ? this.#run(transaction, item, params) : traceStatement(span, () => this.#run(transaction, item, params));
      },
      coalesce: async <Row extends CoalescedRow>(item: CoalescedPrepared, values: readonly unknown[]) =>
        (await tx.query<Row>(item, toLists(values)))[0],
      pipeline,
      beforeFlush: (callback) => void written.push(callback),
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
      for (const callback of written) await callback();
      const statements = Promise.all(last.map((callback) => callback()));
      open = false;
      // A statement that fails turns the commit behind it into a rollback; its own error says more.
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
    if (needsAnotherConnection(error)) return this.#pool.options.max + 1; // each connection may hold one of its own
    if (isTransient(error)) return maxAttempts;
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

/** Of one call. */
function toLists(values: readonly unknown[]): unknown[][] {
  return values.map((value) => [value]);
}

async function fetchBatch<Row>(client: pg.PoolClient, count: number): Promise<Row[]> {
  return (await client.query<Row & pg.QueryResultRow>({ text: `fetch ${count} from batches`, types: rowParsers })).rows;
}

/** Who collided does not collide again at the same moment. */
function pauseBefore(attempt: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.random() * 10 * 2 ** Math.min(attempt, 6)));
}
