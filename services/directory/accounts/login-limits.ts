/**
 * Rate limits of logins (rules/http#rate-limits; D76), and audit entries for refused logins (A1).
 * docs/adr/login-throttling.md
 */
import { createHash } from 'node:crypto';
import { type AuditContext, recordAudit } from '#libs/infrastructure/audit';
import { AppError } from '#libs/infrastructure/errors';
import type { Database } from '#libs/infrastructure/orm';
import type { Metrics } from '#libs/infrastructure/telemetry';
import { type AttemptRow, countAttempt, findAttempts } from './statements/sessions.ts';

const reasons = [
  'gate_key',
  'credentials',
  'identity',
  'too_many_gate_keys',
  'too_many_logins',
  'too_many_failures',
] as const;
type Reason = (typeof reasons)[number];

export interface LoginLimits {
  /** Maximum logins per minute and address, and maximum attempts with a wrong gate key; 0 = no limit. */
  readonly loginsPerMinute: number;
  /** Maximum failed logins per email and address in 15 minutes; 0 = no limit. */
  readonly failuresPerEmail: number;
}

/**
 * All methods except `count` throw 429 above the limit. An address is an IPv4 address or the /64 of an IPv6 address.
 */
export interface LoginThrottle {
  admitGateTry(address: string): Promise<void>;
  admitLogin(address: string): Promise<void>;
  /** Checks the limit without counting an attempt. */
  admitEmail(email: string, address: string): Promise<void>;
  countFailure(email: string, address: string): Promise<void>;
  /** Increments the metric of rejected logins. */
  count(reason: Reason): void;
}

const addressWindowSeconds = 60;
const emailWindowSeconds = 15 * 60;

/**
 * Returns the prefix of an email's throttle keys. It is a digest, because people type passwords into the email field by
 * mistake.
 */
export function emailThrottleKey(email: string): string {
  return `email:${createHash('sha256').update(email.trim().toLowerCase()).digest('hex')}`;
}

export function createLoginThrottle(db: Database, metrics: Metrics, limits: LoginLimits): LoginThrottle {
  const refused = metrics.counter('logins_refused_total', 'Logins refused, by reason', { reason: reasons });

  const admit = (attempt: AttemptRow, reason: Reason): void => {
    if (attempt.admitted) return;
    refused.inc({ reason });
    const details = { retry_after: attempt.retry_after };
    throw new AppError({ code: 'rate_limited', message: 'Too many login attempts. Try again later.', details });
  };
  const countOf = async (key: string, reason: Reason): Promise<void> => {
    if (limits.loginsPerMinute === 0) return;
    admit(await countAttempt(db, { key, limit: limits.loginsPerMinute, windowSeconds: addressWindowSeconds }), reason);
  };
  const failures = async (
    attempts: typeof countAttempt | typeof findAttempts,
    email: string,
    address: string,
  ): Promise<void> => {
    if (limits.failuresPerEmail === 0) return;
    const key = `${emailThrottleKey(email)}/${address}`;
    admit(
      await attempts(db, { key, limit: limits.failuresPerEmail, windowSeconds: emailWindowSeconds }),
      'too_many_failures',
    );
  };

  return {
    admitGateTry: (address) => countOf(`gate:${address}`, 'too_many_gate_keys'),
    admitLogin: (address) => countOf(`ip:${address}`, 'too_many_logins'),
    admitEmail: (email, address) => failures(findAttempts, email, address),
    countFailure: (email, address) => failures(countAttempt, email, address),
    count: (reason) => refused.inc({ reason }),
  };
}

export interface RefusedLogins {
  /**
   * Records a refused login. @param accountId account of the email; null if the account does not exist or was not read
   */
  record(
    context: AuditContext,
    accountId: number | null,
    reason: 'credentials' | 'gate_key' | 'identity' | 'no_person',
  ): Promise<void>;
}

const windowMs = 60_000;

/**
 * Writes refused logins to the audit log, at most `maxPerMinute` per minute. @param now monotonic clock in milliseconds
 */
export function createRefusedLogins(
  db: Database,
  maxPerMinute = 120,
  now: () => number = () => performance.now(),
): RefusedLogins {
  let windowStart = now();
  let written = 0;
  let unlisted = 0;
  return {
    record: async (context, accountId, reason) => {
      if (now() - windowStart >= windowMs) [windowStart, written] = [now(), 0];
      if (written >= maxPerMinute) {
        unlisted++;
        return;
      }
      written++;
      const changes = unlisted === 0 ? { reason } : { reason, refused_before_and_not_listed: unlisted };
      unlisted = 0;
      const target = accountId === null ? undefined : { type: 'account', id: accountId };
      await db.transaction(async (tx) => recordAudit(tx, context, { target, changes, accountId, outcome: 'refused' }));
    },
  };
}
