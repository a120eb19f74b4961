/** The connection of an open transaction, for those who run other statements on it than the prepared ones (entities/entity-managers.ts). */
import type pg from 'pg';
import type { Queryable } from '#libs/sql';

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
