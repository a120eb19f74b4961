/** The pool of connections of one service, and how each of them is set up. */
import pg from 'pg';
import { GatheringSocket } from './gathering-socket.ts';
import type { DatabaseOptions } from './options.ts';
import { entityParsers } from './parsers.ts';

/**
 * Settings of every connection that decide about plans; those of DATABASE_URL come after them. A page at random costs hardly more than the
 * next one on solid disks and in memory: with PostgreSQL's default, made for turning disks, a few thousand ids already read a whole table.
 * Nothing is compiled: conditions that walk a tree look dear to the planner, and compiling takes longer than any statement of a request. Nor
 * do statements start workers: that takes longer than most, and many requests at once keep the processors busy anyway. The memory of a statement
 * holds the rows that an index found in a table of a gigabyte or two; with less, PostgreSQL compares every row of the pages that they are in.
 */
export const plannerOptions = '-c random_page_cost=1.1 -c jit=off -c max_parallel_workers_per_gather=0 -c work_mem=16MB';

/** Nothing is connected before the first statement. @throws Error when the URL is malformed (its text is not repeated) */
export function createPool(options: DatabaseOptions, statementTimeoutMs: number): pg.Pool {
  const { connectionString, startOptions } = splitUrl(options.url);
  const config: pg.PoolConfig & { pipeline: boolean } = {
    connectionString,
    options: `${plannerOptions} ${startOptions} -c search_path=${options.schema},public`,
    application_name: options.applicationName,
    max: options.poolSize,
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: 60_000,
    connectionTimeoutMillis: options.connectTimeoutMs ?? 10_000,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    types: entityParsers,
    pipeline: true,
    stream: () => new GatheringSocket(),
  };
  const pool = new pg.Pool(config);
  // A connection that PostgreSQL drops says so by an 'error' event, fatal without a listener. The statement on it fails by itself
  // and the pool forgets the connection, so there is nothing more to do than to say it.
  pool.on('connect', (client) => {
    client.on('error', (error: Error) => options.logger.warn({ error: error.message }, 'database connection lost'));
  });
  pool.on('error', () => {});
  return pool;
}

/** Takes `options` out of the URL, where it would hide the search path. */
function splitUrl(url: string): { connectionString: string; startOptions: string } {
  if (!URL.canParse(url)) throw new Error('DATABASE_URL is not a valid PostgreSQL URL');
  const parsed = new URL(url);
  const startOptions = parsed.searchParams.get('options') ?? '';
  parsed.searchParams.delete('options');
  return { connectionString: parsed.href, startOptions };
}
