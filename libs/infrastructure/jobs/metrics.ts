/** Metrics of the jobs of one service (rules/operations#metrics). */
import type { Database } from '#libs/infrastructure/orm';
import type { Metrics } from '#libs/infrastructure/telemetry';
import type { Outcome } from './policy.ts';
import { countJobs, type CountRow, readOutboxAge } from './statements.ts';

export interface JobMetrics {
  /** Counts an attempt. The outcome `malformed` means that the message was not a job. */
  attempted(type: string, outcome: Outcome | 'malformed', seconds: number, traceparent?: string): void;
}

/** Creates the metrics. Each scrape reads the queue lengths from the database, at most once a second. */
export function createJobMetrics(metrics: Metrics | undefined, db: Database, types: readonly string[]): JobMetrics {
  if (metrics === undefined) return { attempted: () => {} };
  const total = metrics.counter('job_attempts_total', 'Attempts of jobs by how they ended', ['type', 'outcome']);
  const duration = metrics.histogram('job_attempt_duration_seconds', 'Duration of attempts of jobs', ['type']);
  let readAtMs = -Infinity;
  let reading: Promise<{ rows: CountRow[]; outboxSeconds: number; outboxRows: number }> | undefined;
  const read = (): NonNullable<typeof reading> => {
    if (reading !== undefined && performance.now() - readAtMs < 1_000) return reading;
    readAtMs = performance.now();
    reading = Promise.all([countJobs(db), readOutboxAge(db)]).then(([rows, outbox]) => ({
      rows,
      outboxSeconds: outbox.seconds,
      outboxRows: outbox.rows,
    }));
    return reading;
  };
  const gaugeOfTypes = (name: string, help: string, pick: (row: CountRow) => number): void => {
    metrics.gauge(name, help, ['type'], async (gauge) => {
      gauge.reset();
      const { rows } = await read().catch(() => ({ rows: undefined }));
      if (rows === undefined) return; // the database is unavailable: no value is better than an outdated one
      for (const type of types) gauge.set({ type }, 0);
      for (const row of rows) gauge.set({ type: row.type }, pick(row));
    });
  };
  gaugeOfTypes('job_queue_pending', 'Jobs that wait, delayed ones included', (row) => row.pending);
  gaugeOfTypes('job_queue_running', 'Jobs under a lease', (row) => row.running);
  gaugeOfTypes(
    'job_queue_dead',
    'Dead jobs that wait for an operator (CLI: jobs redrive, jobs discard)',
    (row) => row.dead,
  );
  gaugeOfTypes('job_oldest_age_seconds', 'How long the oldest due job waits', (row) => row.oldest_seconds);
  const gaugeOfOutbox = (
    name: string,
    help: string,
    pick: (state: { outboxSeconds: number; outboxRows: number }) => number,
  ): void => {
    metrics.gauge(name, help, [], async (gauge) => {
      gauge.reset();
      const state = await read().catch(() => undefined);
      if (state !== undefined) gauge.set(pick(state));
    });
  };
  gaugeOfOutbox(
    'outbox_age_seconds',
    'Age of the oldest message that the broker does not have',
    (state) => state.outboxSeconds,
  );
  gaugeOfOutbox('outbox_messages', 'Messages that the broker does not have', (state) => state.outboxRows);
  return {
    attempted: (type, outcome, seconds, traceparent) => {
      total.inc({ type, outcome });
      if (outcome !== 'malformed') duration.observe({ type }, seconds, traceparent);
    },
  };
}
