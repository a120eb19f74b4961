/** The pool of connections of one service, and how each of them is set up. */
import type pg from 'pg';
import { CoalescingSocket } from './coalescing-socket.ts';
import { createHostPool, listHosts, splitStartOptions } from './hosts.ts';
import type { DatabaseOptions } from './options.ts';
import { entityParsers } from './parsers.ts';
import { plannerOptions } from './planner.ts';
import { createRoleCheck } from './pooled-role.ts';

/** Nothing is connected before the first statement. @throws Error when the URL is malformed (its text is not repeated) */
export function createPool(options: DatabaseOptions, statementTimeoutMs: number): pg.Pool {
  const { hosts, startOptions } = splitStartOptions(listHosts(options.url));
  if (options.pooled === true && startOptions !== '') {
    throw new Error('DATABASE_URL has `options`, which a pooler does not hand on: set them at the role');
  }
  const config: pg.PoolConfig = {
    ...(options.pooled === true
      ? {}
      : {
          options: `${plannerOptions} ${startOptions} -c search_path=${options.schema},public`,
          statement_timeout: statementTimeoutMs,
          idle_in_transaction_session_timeout: 60_000,
        }),
    application_name: options.applicationName,
    max: options.poolSize,
    connectionTimeoutMillis: options.connectTimeoutMs ?? 10_000,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    types: entityParsers,
    pipeline: true,
    stream: () => new CoalescingSocket(),
  };
  const pool = createHostPool(config, hosts, options.pooled === true ? createRoleCheck(options.schema) : undefined);
  // A connection that PostgreSQL drops says so by an 'error' event, fatal without a listener. The statement on it fails by itself
  // and the pool forgets the connection, so there is nothing more to do than to say it.
  pool.on('connect', (client) => {
    client.on('error', (error: Error) => options.logger.warn({ error: error.message }, 'database connection lost'));
  });
  pool.on('error', () => {});
  return pool;
}
