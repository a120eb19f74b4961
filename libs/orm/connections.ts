/** The connection of an open transaction, for those who run other statements on it than the prepared ones (entities/units.ts). */
import type pg from 'pg';
import type { Tx } from './database.ts';

const connections = new WeakMap<Tx, pg.PoolClient>();

export function noteConnection(tx: Tx, client: pg.PoolClient): void {
  connections.set(tx, client);
}

/** @throws Error for what is no transaction of this library */
export function connectionOf(tx: Tx): pg.PoolClient {
  const client = connections.get(tx);
  if (client === undefined) throw new Error('The transaction is of another database');
  return client;
}
