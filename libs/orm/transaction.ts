/** One transaction (read committed) on a connection of the pool, which is given back at its end. */
import type pg from 'pg';
import type { Queryable } from '#libs/sql';
import { isRefusedAfterFailure } from './errors.ts';

/** What runs statements on a connection. */
export interface Connection {
  query(statement: string | pg.QueryConfig): Promise<pg.QueryResult>;
}

export class Transaction implements Connection {
  readonly client: pg.PoolClient;
  /** Set when the connection must not serve anybody else; it is closed at its release. */
  broken = false;
  #begun = false;
  #commitSent = false;
  /** The error of the statement that failed first: PostgreSQL refuses all later ones. */
  #failure: unknown;

  /** Does not wait for the answer: the connection is pipelined, so `begin` travels with the first statement. */
  constructor(client: pg.PoolClient) {
    this.client = client;
    client.query('begin').then(
      () => (this.#begun = true),
      () => (this.broken = true),
    );
  }

  /** PostgreSQL has answered its begin, or only its answer tells what became of it. */
  get hasHappened(): boolean {
    return this.#begun || this.#commitSent;
  }

  /** @throws the error of the statement, or of an earlier one if that had failed the transaction */
  query(statement: string | pg.QueryConfig): Promise<pg.QueryResult> {
    return this.client.query(statement).catch((error: unknown) => {
      throw this.explain(error);
    });
  }

  /** The error, or what failed the transaction before it: only that says whether the transaction may run again. */
  explain(error: unknown): unknown {
    this.#failure ??= isRefusedAfterFailure(error) ? undefined : error;
    return isRefusedAfterFailure(error) ? (this.#failure ?? error) : error;
  }

  /** @throws Error when the transaction had already failed: PostgreSQL answers such a commit with a rollback and no error. */
  async commit(): Promise<void> {
    if (this.broken) throw new Error('Connection terminated before the transaction began');
    this.#commitSent = true;
    const { command } = await this.client.query('commit');
    if (command !== 'COMMIT') throw this.#failure ?? new Error('The transaction was rolled back: a statement in it had failed');
    this.client.release(this.broken);
  }

  async rollback(): Promise<void> {
    try {
      await this.client.query('rollback');
    } catch {
      this.broken = true; // closing it rolls back as well
    }
    this.client.release(this.broken);
  }
}

const connections = new WeakMap<Queryable, pg.PoolClient>();

export function registerConnection(tx: Queryable, client: pg.PoolClient): void {
  connections.set(tx, client);
}

/** @throws Error for what is no transaction of this library */
export function connectionOf(tx: Queryable): pg.PoolClient {
  const client = connections.get(tx);
  if (client === undefined) throw new Error('The transaction is of another database');
  return client;
}
