/** What alerts and dashboards read of the webhook receipts of a service. */
import type { Metrics } from '#libs/telemetry';

interface ReceiptCount {
  readonly source: string;
  readonly outcome: string;
  readonly last_hour: number;
  readonly last_day: number;
}

const labels = ['source', 'outcome'];

/** Alerts use the hour: a count of the day would keep them firing for a day after the cause is gone. */
export function measureReceipts(metrics: Metrics, count: () => Promise<readonly ReceiptCount[]>): void {
  let running: Promise<readonly ReceiptCount[]> | undefined;
  // A scrape collects both gauges at the same time: one query serves both.
  const countOnce = (): Promise<readonly ReceiptCount[]> => (running ??= count().finally(() => (running = undefined)));
  for (const [name, period, column] of [
    ['webhook_receipts_recent', 'day', 'last_day'],
    ['webhook_receipts_last_hour', 'hour', 'last_hour'],
  ] as const) {
    metrics.gauge(name, `Webhooks of the last ${period} by source and outcome`, labels, async (gauge) => {
      const rows = await countOnce();
      gauge.reset();
      for (const { source, outcome, [column]: value } of rows) gauge.set({ source, outcome }, value);
    });
  }
}
