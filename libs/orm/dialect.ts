/**
 * Kysely's dialect over the library's own pool. MikroORM runs on it, and the connection of a transaction is reachable, so that
 * entities and named (prepared) statements share one transaction.
 */
import {
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type Kysely,
  type QueryResult,
  type TransactionSettings,
} from 'kysely';
import type pg from 'pg';
import { findTracer, traceWork } from '#libs/telemetry';

/** One checked-out connection of the pool. */
export class PooledConnection implements DatabaseConnection {
  readonly client: pg.PoolClient;
  /** Set when the connection must not serve anybody else; it is closed at its release. */
  broken = false;
  /** PostgreSQL has answered the `begin` of the transaction on it. */
  begun = false;
  /** The commit is on its way. Only PostgreSQL's answer tells what became of it. */
  commitSent = false;

  constructor(client: pg.PoolClient) {
    this.client = client;
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const result = await this.#run(query);
    const counts = result.command === 'INSERT' || result.command === 'UPDATE' || result.command === 'DELETE' || result.command === 'MERGE';
    const rows = (result.rows ?? []) as R[];
    return counts ? { rows, numAffectedRows: BigInt(result.rowCount ?? 0) } : { rows };
  }

  /** Statements of entities have no name; their first word says what they do. */
  #run(query: CompiledQuery): Promise<pg.QueryResult> {
    const run = (): Promise<pg.QueryResult> => this.client.query(query.sql, [...query.parameters]);
    const tracer = findTracer();
    if (tracer === undefined) return run();
    const verb = /^\s*([a-z]+)/i.exec(query.sql)?.[1]?.toLowerCase() ?? 'statement';
    return traceWork(tracer.startChild(`sql ${verb}`, 'client', { 'db.system.name': 'postgresql', 'db.operation.name': verb }), run);
  }

  streamQuery(): never {
    throw new Error('Rows are streamed by Database.stream');
  }

  release(): void {
    this.client.release(this.broken);
  }
}

class PoolDriver implements Driver {
  readonly #pool: pg.Pool;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<PooledConnection> {
    return new PooledConnection(await this.#pool.connect());
  }

  /** Does not wait for the answer: the connection is pipelined, so `begin` travels with the first statement. */
  async beginTransaction(connection: PooledConnection, settings: TransactionSettings): Promise<void> {
    const isolation = settings.isolationLevel === undefined ? '' : ` isolation level ${settings.isolationLevel}`;
    const access = settings.accessMode === undefined ? '' : ` ${settings.accessMode}`;
    connection.client.query(`begin${isolation}${access}`).then(
      () => (connection.begun = true),
      () => (connection.broken = true),
    );
  }

  /** @throws Error when the transaction had already failed: PostgreSQL answers such a commit with a rollback and no error. */
  async commitTransaction(connection: PooledConnection): Promise<void> {
    if (connection.broken) throw new Error('Connection terminated before the transaction began');
    connection.commitSent = true;
    const { command } = await connection.client.query('commit');
    if (command !== 'COMMIT') throw new Error('The transaction was rolled back: a statement in it had failed');
  }

  async rollbackTransaction(connection: PooledConnection): Promise<void> {
    try {
      await connection.client.query('rollback');
    } catch {
      connection.broken = true; // closing it rolls back as well
    }
  }

  async savepoint(connection: PooledConnection, name: string): Promise<void> {
    await connection.client.query(`savepoint ${connection.client.escapeIdentifier(name)}`);
  }

  async rollbackToSavepoint(connection: PooledConnection, name: string): Promise<void> {
    await connection.client.query(`rollback to savepoint ${connection.client.escapeIdentifier(name)}`);
  }

  async releaseSavepoint(connection: PooledConnection, name: string): Promise<void> {
    await connection.client.query(`release savepoint ${connection.client.escapeIdentifier(name)}`);
  }

  async releaseConnection(connection: PooledConnection): Promise<void> {
    connection.release();
  }

  async destroy(): Promise<void> {}
}

/** Kysely's parts for PostgreSQL over this pool. Whoever made the pool ends it. */
export function createDialect(pool: pg.Pool): Dialect {
  return {
    createDriver: () => new PoolDriver(pool),
    createQueryCompiler: () => new PostgresQueryCompiler(),
    createAdapter: () => new PostgresAdapter(),
    createIntrospector: (db: Kysely<never>) => new PostgresIntrospector(db),
  };
}
