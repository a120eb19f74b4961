/** What alerts and operators count of receipts. */
import type { Database } from '#libs/orm';
import type { Queryable } from '#libs/sql';
import type { Metrics } from '#libs/telemetry';
import { countReceipts } from './statements.ts';

/** For the overview of operators (P1). */
export async function countWebhooks(db: Queryable) {
  return (await countReceipts(db)).map(({ source, ...count }) => ({ kind: source, ...count }));
}

export function measureReceipts(metrics: Metrics, db: Database): void {
  metrics.gauge('webhook_receipts_recent', 'Webhooks of the last day by source and outcome', ['source', 'outcome'], async (gauge) => {
    const rows = await countReceipts(db);
    gauge.reset();
    for (const { source, outcome, last_day: count } of rows) gauge.set({ source, outcome }, count);
  });
}
