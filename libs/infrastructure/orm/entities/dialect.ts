/** Kysely dialect on this library's connections: MikroORM uses it in an open transaction or on a pool. */
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
} from 'kysely';
import type pg from 'pg';
import { findTracer, serverAttributes } from '#libs/infrastructure/telemetry';
import { startStatement, traceStatement } from '../telemetry.ts';

class PooledConnection implements DatabaseConnection {
  readonly client: pg.PoolClient;

  constructor(client: pg.PoolClient) {
    this.client = client;
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const result = await this.#run(query);
    const counts =
      result.command === 'INSERT' ||
      result.command === 'UPDATE' ||
      result.command === 'DELETE' ||
      result.command === 'MERGE';
    const rows = (result.rows ?? []) as R[];
    return counts ? { rows, numAffectedRows: BigInt(result.rowCount ?? 0) } : { rows };
  }

  /** Entity statements have no name; their first word identifies the operation. */
  #run(query: CompiledQuery): Promise<pg.QueryResult> {
    const run = (): Promise<pg.QueryResult> => this.client.query(query.sql, [...query.parameters]);
    if (findTracer() === undefined) return run();
    const {
      host: hostname = '',
      port,
      database,
    } = this.client as { readonly host?: string; readonly port?: number; readonly database?: string };
    const server = serverAttributes({ hostname, port: String(port ?? ''), protocol: 'postgresql:' });
    const described = {
      'db.system.name': 'postgresql',
      ...(database === undefined ? {} : { 'db.namespace': database }),
      ...server,
    };
    return traceStatement(startStatement(described, query.sql), run);
  }

  streamQuery(): never {
    throw new Error('Rows are streamed by Database.stream');
  }
}

/** Uses connections of a pool. The pool is closed by the code that created it. */
export class PoolDriver implements Driver {
  readonly #connect: () => Promise<pg.PoolClient>;

  constructor({ connect }: { readonly connect: () => Promise<pg.PoolClient> }) {
    this.#connect = connect;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<PooledConnection> {
    return new PooledConnection(await this.#connect());
  }

  async beginTransaction({ client }: PooledConnection): Promise<void> {
    await client.query('begin');
  }

  async commitTransaction({ client }: PooledConnection): Promise<void> {
    await client.query('commit');
  }

  async rollbackTransaction({ client }: PooledConnection): Promise<void> {
    await client.query('rollback');
  }

  async savepoint({ client }: PooledConnection, name: string): Promise<void> {
    await client.query(`savepoint ${client.escapeIdentifier(name)}`);
  }

  async rollbackToSavepoint({ client }: PooledConnection, name: string): Promise<void> {
    await client.query(`rollback to savepoint ${client.escapeIdentifier(name)}`);
  }

  async releaseSavepoint({ client }: PooledConnection, name: string): Promise<void> {
    await client.query(`release savepoint ${client.escapeIdentifier(name)}`);
  }

  async releaseConnection({ client }: PooledConnection): Promise<void> {
    client.release();
  }

  async destroy(): Promise<void> {}
}

/** Uses the connection of a transaction that its caller begins and ends. */
export class TransactionDriver extends PoolDriver {
  constructor(client: pg.PoolClient) {
    super({ connect: async () => client });
  }

  override async beginTransaction(): Promise<void> {}

  override async commitTransaction(): Promise<void> {}

  override async rollbackTransaction(): Promise<void> {}

  override async releaseConnection(): Promise<void> {}
}

/** Creates the Kysely components for PostgreSQL with this driver. */
export function createDialect(createDriver: () => Driver): Dialect {
  return {
    createDriver,
    createQueryCompiler: () => new PostgresQueryCompiler(),
    createAdapter: () => new PostgresAdapter(),
    createIntrospector: (db: Kysely<never>) => new PostgresIntrospector(db),
  };
}
