/**
 * Refused logins in the audit log (A1). Who was throttled leaves no entry, and of all others a process writes so many in a minute: what comes beside
 * them is counted, and the next entry says how many. So nobody fills the disk by guessing, from however many addresses.
 */
import { type AuditContext, recordAudit } from '#libs/audit';
import type { Database } from '#libs/orm';

export interface RefusedLogins {
  /** @param accountId of the email; null when there is none, or when it was not looked at */
  record(context: AuditContext, accountId: number | null, reason: 'credentials' | 'gate_key' | 'identity' | 'no_person'): Promise<void>;
}

const windowMs = 60_000;

/** @param now milliseconds of a clock that never goes back */
export function createRefusedLogins(db: Database, perMinute = 120, now: () => number = () => performance.now()): RefusedLogins {
  let beganAt = now();
  let written = 0;
  let left = 0;
  return {
    record: async (context, accountId, reason) => {
      if (now() - beganAt >= windowMs) [beganAt, written] = [now(), 0];
      if (written >= perMinute) {
        left++;
        return;
      }
      written++;
      const changes = left === 0 ? { reason } : { reason, refused_before_and_not_listed: left };
      left = 0;
      const target = accountId === null ? undefined : { type: 'account', id: accountId };
      await db.transaction(async (tx) => recordAudit(tx, context, { target, changes, accountId, outcome: 'refused' }));
    },
  };
}
