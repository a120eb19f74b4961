/**
 * Webhook receipts: what is stored, limits for rejected webhooks, retention and metrics (D20, D64, D68). The rules are
 * the same in every service.
 */
import { createHash } from 'node:crypto';
import { createBatcher } from '#libs/infrastructure/concurrency';
import { removeInBatches } from '#libs/infrastructure/retention';
import type { Queryable } from '#libs/infrastructure/sql';
import type { Metrics } from '#libs/infrastructure/telemetry';
import { countDeliveries, dropExpiredReceipts, type DropReceipts, ignoredOutcomes } from './statements.ts';

/** Outcome of an unsigned event when the secret of the webhook is not set and unsigned events are not allowed. */
export const unsignedOutcome = 'rejected_unsigned';
/** Returns the message for `unsignedOutcome`. @param secret name of the missing setting */
export const describeUnsigned = (secret: string): string =>
  `${secret} is not set, so the event cannot be verified. Set it; for development, ALLOW_UNSIGNED_WEBHOOKS=true accepts unsigned events.`;

export interface StoredBody {
  readonly body: Buffer | null;
  /** SHA-256 of the received body in hex; null when it was too large to be read. */
  readonly digest: string | null;
  /** Size of the received body in bytes; null when the body was too large to be read. */
  readonly size: number | null;
}

/**
 * Outcomes that can be replayed when a later version can read the body or the agent exists (D68, P8). Any client can
 * cause these outcomes, so the stored bodies have a size limit.
 */
const replayableOutcomes = ['rejected_unreadable', 'agent_not_found'];
const maxReplayedBytes = 65_536;
const unlimited = 2_147_483_647;

/**
 * Returns the size limit of a stored body in bytes; -1 for rejected and ignored webhooks whose body is not stored, only
 * its digest and size (D68).
 */
export function maxStoredBytes(outcome: string): number {
  if (replayableOutcomes.includes(outcome)) return maxReplayedBytes;
  return ignoredOutcomes.includes(outcome) || outcome.startsWith('rejected_') ? -1 : unlimited;
}

export function selectStoredBody(outcome: string, body: Buffer | null): StoredBody {
  if (body === null) return { body, digest: null, size: null };
  const digest = createHash('sha256').update(body).digest('hex');
  return { body: body.length > 0 && body.length <= maxStoredBytes(outcome) ? body : null, digest, size: body.length };
}

/** Returns the reason why a receipt without a body cannot be replayed. */
export function describeMissingBody(outcome: string): string {
  const limit = maxStoredBytes(outcome);
  if (limit === unlimited)
    return 'The body was deleted: it was older than RECEIPT_RETENTION_DAYS, or named a person who was erased.';
  if (limit < 0) return 'Bodies of rejected or ignored webhooks are not stored; ask the sender to send it again.';
  return `The body is not stored: it was deleted, had more than ${limit} bytes, or exceeded the limit of stored rejections. Ask the sender to send it again.`;
}

const maxRejectedHeaderLength = 200;

/** Returns the headers to store. Headers of rejected and ignored webhooks are truncated. */
export function selectStoredHeaders(
  outcome: string,
  headers: Readonly<Record<string, string>>,
): Record<string, string> {
  const limit = maxStoredBytes(outcome) === unlimited ? Infinity : maxRejectedHeaderLength;
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value.slice(0, limit)]));
}

/**
 * Maximum rejected webhooks per hour, process and outcome that are stored in separate receipts. Further ones in this
 * hour share a receipt that counts them.
 */
export const maxRefusalsPerHour = 100;
const maxRefusalsPerDay = 500;

export interface Refusal {
  readonly outcome: string;
  readonly message: string;
  /** ISO 8601, UTC. */
  readonly receivedAt: string;
  /** Dedupe key that the webhook's receipt has if it is not shared. */
  readonly dedupeKey: string;
  /** The body as received. */
  readonly body: Buffer | null;
}

export interface RefusalReceipt extends StoredBody, Pick<Refusal, 'outcome' | 'message' | 'dedupeKey'> {}

export interface RefusalReceipts {
  /**
   * @returns the receipt to store; undefined when an existing shared receipt counted the webhook. @throws AppError
   * `unavailable`
   */
  createReceipt(refusal: Refusal): Promise<RefusalReceipt | undefined>;
}

/**
 * Creates receipts of rejected webhooks (D20, D68). Any client can cause rejections, so the number of rows is limited,
 * and a flood costs only a fraction of a statement per request.
 * @param source distinguishes the webhooks of a service in shared dedupe keys
 */
export function createRefusalReceipts({ db, source }: { db: Queryable; source: string }): RefusalReceipts {
  const isBelowLimit = createRefusalLimit();
  const count = createSharedCount(db);
  return {
    createReceipt: async ({ outcome, message, receivedAt, dedupeKey, body }) => {
      if (isBelowLimit(outcome, receivedAt)) return { outcome, message, dedupeKey, ...selectStoredBody(outcome, body) };
      const sharedKey = `${source}:${outcome}:${receivedAt.slice(0, hourLength)}`;
      if (await count(sharedKey)) return undefined;
      const note = `More than ${maxRefusalsPerHour} within an hour, or ${maxRefusalsPerDay} within a day: these are only counted.`;
      return { outcome, message: note, dedupeKey: sharedKey, body: null, digest: null, size: null };
    },
  };
}

/** Lengths of the prefixes of an instant (`2030-01-01T10:…`) that contain the day and the hour. */
const [dayLength, hourLength] = [10, 13];

/** Returns a function that counts a rejection and returns whether its kind is within the limits of its hour and day. */
export function createRefusalLimit(): (kind: string, receivedAt: string) => boolean {
  const counts = new Map<string, number>();
  const increment = (key: string): number => {
    const next = (counts.get(key) ?? 0) + 1;
    // Spooled webhooks can belong to earlier hours, so several hours are counted at the same time.
    if (next === 1 && counts.size >= 1_000) counts.clear();
    counts.set(key, next);
    return next;
  };
  return (kind, receivedAt) => {
    if (increment(`${kind}:${receivedAt.slice(0, hourLength)}`) > maxRefusalsPerHour) return false;
    return increment(`${kind}:${receivedAt.slice(0, dayLength)}`) <= maxRefusalsPerDay;
  };
}

/**
 * Returns a function that increments the delivery count of a receipt; concurrent calls share a statement. The function
 * returns false when the receipt does not exist.
 */
function createSharedCount(db: Queryable): (dedupeKey: string) => Promise<boolean> {
  let number = 0;
  const batcher = createBatcher<{ readonly key: string; readonly number: number }, true>({
    keyOf: (item) => String(item.number), // a separate key per call, because every call is counted
    maxParallel: 1, // concurrent statements would wait for each other's row lock
    run: async (items) => {
      const rows = await countDeliveries(db, { keys: items.map(({ key }) => key) });
      const found = new Set(rows.map(({ key }) => key));
      return new Map(items.filter(({ key }) => found.has(key)).map((item) => [String(item.number), true]));
    },
  });
  return async (key) => (await batcher.add({ key, number: number++ })) === true;
}

export interface ReceiptRetention {
  readonly db: Queryable;
  /** Statement from `declareDropContents` that clears the service's receipts. */
  readonly dropContents: DropReceipts;
  readonly days: number;
  readonly signal?: AbortSignal | undefined;
}

/** Interval at which services call `sweepReceipts`. */
export const receiptSweepIntervalMs = 600_000;

/**
 * Removes old bodies, and the rows of rejected and ignored webhooks, in batches (D68). @returns the numbers of removed
 * rows and bodies
 */
export async function sweepReceipts({
  db,
  dropContents,
  days,
  signal,
}: ReceiptRetention): Promise<{ rows: number; bodies: number }> {
  const sweep = (drop: DropReceipts): Promise<number> =>
    removeInBatches({ remove: async (limit) => (await drop(db, { days, limit })).count, signal });
  return { rows: await sweep(dropExpiredReceipts), bodies: await sweep(dropContents) };
}

interface ReceiptCount {
  readonly source: string;
  readonly outcome: string;
  readonly last_hour: number;
  readonly last_day: number;
}

/**
 * Adds gauges of the receipts in the last hour and day. Alerts use the hour, because an alert on a daily count would
 * fire for a day after the cause is fixed.
 */
export function measureReceipts(metrics: Metrics, count: () => Promise<readonly ReceiptCount[]>): void {
  let running: Promise<readonly ReceiptCount[]> | undefined;
  // A scrape collects both gauges at the same time, so they share one query.
  const countShared = (): Promise<readonly ReceiptCount[]> =>
    (running ??= count().finally(() => (running = undefined)));
  for (const [name, period, column] of [
    ['webhook_receipts_recent', 'day', 'last_day'],
    ['webhook_receipts_last_hour', 'hour', 'last_hour'],
  ] as const) {
    metrics.gauge(
      name,
      `Webhooks of the last ${period} by source and outcome`,
      ['source', 'outcome'],
      async (gauge) => {
        const rows = await countShared();
        gauge.reset();
        for (const { source, outcome, [column]: value } of rows) gauge.set({ source, outcome }, value);
      },
    );
  }
}
