/** The connection pool of one service and the setup of its connections. */
import type pg from 'pg';
import { Socket } from 'node:net';
import type { Logger } from '#libs/infrastructure/logger';
import { createHostPool, listHosts, splitStartOptions } from './hosts.ts';
import { entityParsers } from './parsers.ts';
import { plannerOptions, createRoleCheck } from './role.ts';

/**
 * Creates a pool that connects on the first statement. @throws Error when the URL is malformed; the message does not
 * contain the URL
 */
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
  // A dropped connection emits an 'error' event, which ends the process if it has no listener. The error is only
  // logged, since the pending statement fails and the pool removes the connection.
  pool.on('connect', (client) => {
    client.on('error', (error: Error) => options.logger.warn({ error: error.message }, 'database connection lost'));
  });
  pool.on('error', () => {});
  return pool;
}

/** Numbers of connections. */
export interface PoolStats {
  readonly total: number;
  readonly idle: number;
  /** Number of callers that wait for a connection. */
  readonly waiting: number;
  readonly max: number;
}

/**
 * A socket that sends all statements of an event loop turn in one write. pg corks the socket for the messages of each
 * statement; after the first statement of a turn, the socket remains corked until the turn ends.
 */
export class CoalescingSocket extends Socket {
  #isCorked = false;

  override cork(): void {
    super.cork();
    if (this.#isCorked) return;
    this.#isCorked = true;
    super.cork();
    setImmediate(() => {
      this.#isCorked = false;
      this.uncork();
    });
  }
}

export interface DatabaseOptions {
  /** `postgresql://…`; never part of an error message. */
  readonly url: string;
  /** The service's schema, first in the search path of every connection. */
  readonly schema: string;
  /** Maximum connections of this process. */
  readonly poolSize: number;
  readonly logger: Logger;
  /**
   * Whether the connection is through a pooler in transaction mode, which loses session state between transactions
   * (rules/operations#a-pooler).
   */
  readonly pooled?: boolean | undefined;
  /** Shown by PostgreSQL in `pg_stat_activity`. */
  readonly applicationName: string;
  /** Time limit of one statement, default 30 000. */
  readonly statementTimeoutMs?: number;
  /**
   * Milliseconds to wait for a new connection, or for a free one of a busy pool; default 10 000, which is the timeout
   * of most callers.
   */
  readonly connectTimeoutMs?: number;
}
