/** Handlers of `auditRpcs`, to be spread into the service's handlers. */
import { requireOpsReader } from '#libs/infrastructure/actor';
import type { Actor, auditRpcs, RequestOf } from '#libs/infrastructure/contract';
import { type RawJson, rawJson } from '#libs/infrastructure/nats';
import type { Queryable } from '#libs/infrastructure/sql';
import type { Metrics } from '#libs/infrastructure/telemetry';
import { findVerification, listEntries, readLinks } from './statements.ts';

type ListRequest = RequestOf<ReturnType<typeof auditRpcs>['listAudit']>;

export function auditHandlers(db: Queryable) {
  return {
    listAudit: async (
      {
        account_id: accountId,
        action,
        target_type: targetType,
        target_id: targetId,
        from,
        to,
        before,
        limit,
      }: ListRequest,
      { actor }: { readonly actor?: Actor | undefined },
    ): Promise<RawJson> => {
      // The gateway has checked this right already; audit entries are sensitive enough for a second check (A3).
      requireOpsReader(actor);
      const filter = {
        accountId,
        action,
        targetType,
        targetId,
        from,
        to,
        beforeAt: before?.at,
        beforeId: before?.id,
        limit,
      };
      return rawJson(`{"items":${(await listEntries(db, filter)).items}}`);
    },
    readAudit: async (request: { readonly after: number; readonly limit: number }): Promise<RawJson> =>
      rawJson((await readLinks(db, request)).body),
  };
}

/** Registers metrics of the last verification of a service's audit log. */
export function measureAudit(metrics: Metrics, db: Queryable): void {
  metrics.gauge(
    'audit_log_broken',
    '1 when the last verification of the audit log found its chain broken',
    [],
    async (gauge) => gauge.set((await findVerification(db)).broken ? 1 : 0),
  );
  const help = 'Seconds since the audit log was verified, or since its first entry where it never was';
  metrics.gauge('audit_log_verified_seconds', help, [], async (gauge) => {
    const { age_seconds: age } = await findVerification(db);
    if (age !== null) gauge.set(age);
  });
}
