/** What alerts count of keys. */
import type { Database } from '#libs/orm';
import type { Metrics } from '#libs/telemetry';
import { countExpiringKeys } from './statements.ts';

/** Days before its end in which a key is told; as the name of the metric's alert and its runbook have it. */
const noticeDays = 7;

export function measureKeys(metrics: Metrics, db: Database): void {
  metrics.gauge('service_keys_expiring', `Service keys that expire within ${noticeDays} days`, [], async (gauge) => {
    const { count } = await countExpiringKeys(db, { days: noticeDays });
    gauge.set(count);
  });
}
