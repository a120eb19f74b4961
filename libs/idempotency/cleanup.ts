/** Removes records after their retention, and before it those of accounts that store too much. */
import { removeInBatches } from '#libs/retention';
import type { Queryable } from '#libs/sql';
import { type KeyStatements, removeExcess, removeExpired } from './statements.ts';

/** How long a key is remembered (rules/http#limits). */
export const retentionHours = 24;

/** How often to call the functions below. */
export const cleanupIntervalMs = 60_000;

/** What the records of one account may take in a service (rules/http#limits). */
const defaultMaxBytes = 67_108_864;
/** Of a row beside its body, index entries included. */
const rowBytes = 512;

/** Of `IdempotencyStore`. An account that stores more than `maxBytes` also loses its oldest records, so that no client can fill the disk. */
export async function removeOldRecords(
  db: Queryable,
  { maxBytes = defaultMaxBytes, signal }: { maxBytes?: number; signal?: AbortSignal | undefined } = {},
): Promise<void> {
  await removeExpiredKeys(db, { removeExpired }, signal);
  await removeExcess(db, { maxBytes, rowBytes });
}

/** Of `runOncePerKey`. */
export async function removeExpiredKeys(db: Queryable, keys: Pick<KeyStatements, 'removeExpired'>, signal?: AbortSignal): Promise<void> {
  await removeInBatches({ remove: async (limit) => (await keys.removeExpired(db, { limit })).count, signal });
}
