/** Metrics of a service's audit log: the result of the last verification. */
import type { Queryable } from '#libs/sql';
import type { Metrics } from '#libs/telemetry';
import { findVerification } from './statements.ts';

export function measureAudit(metrics: Metrics, db: Queryable): void {
  metrics.gauge('audit_log_broken', '1 when the last verification of the audit log found its chain broken', [], async (gauge) =>
    gauge.set((await findVerification(db)).broken ? 1 : 0),
  );
  const help = 'Seconds since the audit log was verified, or since its first entry where it never was';
  metrics.gauge('audit_log_verified_seconds', help, [], async (gauge) => {
    const { age_seconds: age } = await findVerification(db);
    if (age !== null) gauge.set(age);
  });
}
