/**
 * Spans of statements, by OpenTelemetry's conventions for PostgreSQL (rules/operations#traces). They never contain
 * statement values.
 */
import {
  findTracer,
  errorTypeOf,
  serverAttributes,
  type Span,
  type SpanAttributes,
  type Metrics,
} from '#libs/infrastructure/telemetry';
import { listHosts } from './hosts.ts';
import type { PoolStats } from './pool.ts';

/**
 * Returns the attributes that all statements of a database share. With several servers in the URL, the server's address
 * is omitted, since the responding server is unknown.
 */
export function describeDatabase(url: string, schema: string): SpanAttributes {
  const urls = listHosts(url).urls.map((one) => new URL(one));
  const [first] = urls;
  const database = decodeURIComponent(first?.pathname.slice(1) ?? '');
  return {
    'db.system.name': 'postgresql',
    'db.namespace': database === '' ? schema : `${database}.${schema}`,
    ...(first !== undefined && urls.length === 1 ? serverAttributes(first) : {}),
  };
}

/**
 * Returns a span for the statement; undefined without an active span. `summary` is the name of the statement. The first
 * word of `text` is the operation.
 */
export function startStatement(described: SpanAttributes, text: string, summary?: string): Span | undefined {
  const tracer = findTracer();
  if (tracer === undefined) return undefined;
  const verb = /^\s*([a-z]+)/i.exec(text)?.[1]?.toLowerCase() ?? 'statement';
  return tracer.startChild(`sql ${summary ?? verb}`, 'client', {
    ...described,
    'db.operation.name': verb,
    ...(summary === undefined ? {} : { 'db.query.summary': summary }),
  });
}

/** Runs a statement within its span. */
export async function traceStatement<T>(span: Span | undefined, run: () => Promise<T>): Promise<T> {
  if (span === undefined) return run();
  try {
    const result = await span.run(run);
    span.end();
    return result;
  } catch (error) {
    const status = findSqlState(error);
    span.end({
      error: status ?? errorTypeOf(error),
      ...(status === undefined ? {} : { attributes: { 'db.response.status_code': status } }),
    });
    throw error;
  }
}

/** Returns PostgreSQL's code of an error or of its cause. */
function findSqlState(error: unknown): string | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    if ('code' in at && typeof at.code === 'string' && /^[\dA-Z]{5}$/.test(at.code)) return at.code;
  }
  return undefined;
}

/** Reports the pool usage (rules/operations#metrics): `database_pool_connections{state}` and waiting callers. */
export function measurePool(metrics: Metrics, database: { stats(): PoolStats }): void {
  metrics.gauge('database_pool_connections', 'Open connections to PostgreSQL by state', ['state'], (gauge) => {
    const { total, idle } = database.stats();
    gauge.set({ state: 'idle' }, idle);
    gauge.set({ state: 'busy' }, total - idle);
  });
  metrics.gauge('database_pool_connections_max', 'Most connections of this process', [], (gauge) =>
    gauge.set(database.stats().max),
  );
  metrics.gauge('database_pool_waiting', 'Callers that wait for a connection', [], (gauge) => {
    // Ignores waiting callers while a connection is idle: every caller is queued briefly, including the gauges of this
    // scrape.
    const { idle, waiting } = database.stats();
    gauge.set(Math.max(0, waiting - idle));
  });
}
