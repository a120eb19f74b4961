import { describe, expect, it } from '@jest/globals';
import { createMetrics } from '#libs/infrastructure/telemetry';
import { measurePool } from './telemetry.ts';

describe('measurePool (rules/operations#metrics)', () => {
  it('reports used and idle connections and waiting callers at the time of the scrape', async () => {
    const metrics = createMetrics('media');
    let stats = { total: 1, idle: 1, waiting: 0, max: 10 };
    measurePool(metrics, { stats: () => stats });
    stats = { total: 5, idle: 2, waiting: 7, max: 10 };
    const { text } = await metrics.render();
    expect(text).toContain('coherence_database_pool_connections{state="busy",service="media"} 3');
    expect(text).toContain('coherence_database_pool_connections{state="idle",service="media"} 2');
    expect(text).toContain('coherence_database_pool_connections_max{service="media"} 10');
    expect(text).toContain('coherence_database_pool_waiting{service="media"} 5');
  });

  it('does not count a caller as waiting when a connection is idle', async () => {
    const metrics = createMetrics('media');
    measurePool(metrics, { stats: () => ({ total: 3, idle: 2, waiting: 1, max: 10 }) });
    expect((await metrics.render()).text).toContain('coherence_database_pool_waiting{service="media"} 0');
  });
});
