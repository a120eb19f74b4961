/** Metrics of deliveries, for alerts and dashboards. */
import type { Database } from '#libs/orm';
import type { Metrics } from '#libs/telemetry';
import { type DeliveryAttempt, attemptErrors } from './contract.ts';
import { countEndpoints } from './statements.ts';

export interface DeliveryMetrics {
  /** `firstAfterMs`: of a first attempt, since the event. */
  attempted(attempt: DeliveryAttempt, firstAfterMs: number | undefined): void;
}

export function measureDispatchers(metrics: Metrics, count: () => Readonly<Record<'working' | 'waiting', number>>): void {
  metrics.gauge('webhook_runs', 'Endpoints to which this process sends; waiting: only for responses', ['state'], (gauge) => {
    for (const [state, dispatchers] of Object.entries(count())) gauge.set({ state }, dispatchers);
  });
}

export function measureDeliveries(metrics: Metrics, db: Database): DeliveryMetrics {
  const attempts = metrics.counter('webhook_delivery_attempts_total', 'Attempts to deliver an event to an endpoint', ['outcome']);
  // Prometheus sees the first of a kind as an increase only where there was a zero before.
  for (const outcome of ['delivered', ...attemptErrors]) attempts.inc({ outcome }, 0);
  const delay = metrics.histogram(
    'webhook_delivery_delay_seconds',
    'From an event to the first attempt to deliver it',
    [],
    [0.1, 0.25, 0.5, 1, 2, 5, 15, 60, 300],
  );
  metrics.gauge('webhook_endpoints', 'Endpoints; failing: without a success for an hour', ['state'], async (gauge) => {
    for (const [state, count] of Object.entries(await countEndpoints(db))) gauge.set({ state }, count);
  });
  return {
    attempted: ({ error }, firstAfterMs) => {
      attempts.inc({ outcome: error ?? 'delivered' });
      if (firstAfterMs !== undefined) delay.observe({}, Math.max(0, firstAfterMs) / 1_000);
    },
  };
}
