import type { Metrics } from '#libs/telemetry';
import type { Database } from './database.ts';

/** Shows how far the pool is used (rules/operations#metrics): `database_pool_connections{state}` and who waits for one. */
export function measurePool(metrics: Metrics, database: Pick<Database, 'stats'>): void {
  metrics.gauge('database_pool_connections', 'Open connections to PostgreSQL by state', ['state'], (gauge) => {
    const { total, idle } = database.stats();
    gauge.set({ state: 'idle' }, idle);
    gauge.set({ state: 'busy' }, total - idle);
  });
  metrics.gauge('database_pool_connections_max', 'Most connections of this process', [], (gauge) => gauge.set(database.stats().max));
  metrics.gauge('database_pool_waiting', 'Callers that wait for a connection', [], (gauge) => {
    // Whoever asks is queued for a moment even when a connection is idle; the gauges of this very scrape are such callers.
    const { idle, waiting } = database.stats();
    gauge.set(Math.max(0, waiting - idle));
  });
}
