/** What alerts count of receipts. */
import type { Database } from '#libs/orm';
import type { Metrics } from '#libs/telemetry';
import { countReceipts } from './statements.ts';

export function measureReceipts(metrics: Metrics, db: Database): void {
  metrics.gauge('webhook_receipts_recent', 'Webhooks of the last day by source and outcome', ['source', 'outcome'], async (gauge) => {
    const rows = await countReceipts(db);
    gauge.reset();
    for (const { source, outcome, count } of rows) gauge.set({ source, outcome }, count);
  });
}
