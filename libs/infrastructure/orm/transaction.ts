/** A transaction (read committed) on a pooled connection, which is released at its end. */
import type pg from 'pg';
import type { Queryable } from '#libs/infrastructure/sql';
import { isRefusedAfterFailure } from './errors.ts';

/** Runs statements on a connection. */
export interface Connection {
  query(statement: string | pg.QueryConfig): Promise<pg.QueryResult>;
}

export class Transaction implements Connection {
  readonly client: pg.PoolClient;
  /** True when the connection must not be reused; it is closed on release. */
  broken = false;
  #hasStarted = false;
  #commitSent = false;
  /** Error of the first failed statement; PostgreSQL rejects all later ones. */
  #failure: unknown;

  /** Sends `begin` without waiting for the response, so that it is sent together with the first statement. */
  constructor(client: pg.PoolClient) {
    this.client = client;
    client.query('begin').then(
      () => (this.#hasStarted = true),
      () => (this.broken = true),
    );
  }

  /** Whether the transaction began or its commit was sent; if so, errors are database errors. */
  get hasHappened(): boolean {
    return this.#hasStarted || this.#commitSent;
  }

  /**
   * Runs a statement.
   * @throws the statement's error, or the error of an earlier statement that had already failed the transaction
   */
  query(statement: string | pg.QueryConfig): Promise<pg.QueryResult> {
    return this.client.query(statement).catch((error: unknown) => {
      throw this.explain(error);
    });
  }

  /** Returns the first error of the transaction, which decides whether the transaction can be retried. */
  explain(error: unknown): unknown {
    this.#failure ??= isRefusedAfterFailure(error) ? undefined : error;
    return isRefusedAfterFailure(error) ? (this.#failure ?? error) : error;
  }

  /**
   * Commits the transaction.
   * @throws Error when a statement had failed; PostgreSQL then rolls back without an error
   */
  async commit(): Promise<void> {
    if (this.broken) throw new Error('Connection terminated before the transaction began');
    this.#commitSent = true;
    const { command } = await this.client.query('commit');
    if (command !== 'COMMIT')
      throw this.#failure ?? new Error('The transaction was rolled back: a statement in it had failed');
    this.client.release(this.broken);
  }

  async rollback(): Promise<void> {
    try {
      await this.client.query('rollback');
    } catch {
      this.broken = true; // closing the connection also rolls back
    }
    this.client.release(this.broken);
  }
}

const connections = new WeakMap<Queryable, pg.PoolClient>();

export function registerConnection(tx: Queryable, client: pg.PoolClient): void {
  connections.set(tx, client);
}

/**
 * Returns the connection of an open transaction, for MikroORM's units of work. @throws Error for objects that are not
 * transactions of this library
 */
export function connectionOf(tx: Queryable): pg.PoolClient {
  const client = connections.get(tx);
  if (client === undefined) throw new Error('Not a transaction of this library');
  return client;
}
