/**
 * Keys of operations that derive the response to a repeated call from the current state, so that no response is stored.
 */
import type { Tx } from '#libs/infrastructure/orm';
import { removeInBatches } from '#libs/infrastructure/retention';
import type { Queryable } from '#libs/infrastructure/sql';
import { type KeyStatements, removeExcess, removeExpired } from './statements.ts';

interface ScopedKey {
  readonly keys: KeyStatements;
  /**
   * Id of the row that the key belongs to. The transaction has locked the row, so that concurrent calls with one key
   * run one after the other.
   */
  readonly scopeId: number;
  readonly operation: string;
  /** Null when the client sent no key; every such call has an effect. */
  readonly key: string | null;
}

/**
 * Runs `work` and records the key. If the key was recorded before, runs `replay` instead. When either function throws,
 * the key stays unused.
 */
export async function runOncePerKey<Reply>(
  tx: Tx,
  { keys, scopeId, operation, key }: ScopedKey,
  work: () => Promise<Reply>,
  replay: () => Reply,
): Promise<Reply> {
  if (key === null) return work();
  const record = { scopeId, operation, key };
  if ((await keys.find(tx, record)) !== undefined) return replay();
  const reply = await work();
  tx.beforeCommit(() => keys.insert(tx, { ...record, hours: retentionHours }));
  return reply;
}

/** How long a key is stored, in hours (rules/http#limits). */
export const retentionHours = 24;

/** How often to call the cleanup functions below. */
export const cleanupIntervalMs = 60_000;

/** Maximum bytes that the records of one account use in a service (rules/http#limits). */
const defaultMaxBytes = 67_108_864;
/** Number of bytes that a row needs besides its body, including index entries. */
const rowBytes = 512;

/**
 * Removes expired records of `IdempotencyStore`. For an account with more than `maxBytes` it also removes the oldest
 * records, so that no client can fill the disk.
 */
export async function removeOldRecords(
  db: Queryable,
  { maxBytes = defaultMaxBytes, signal }: { maxBytes?: number; signal?: AbortSignal | undefined } = {},
): Promise<void> {
  await removeExpiredKeys(db, { removeExpired }, signal);
  await removeExcess(db, { maxBytes, rowBytes });
}

/** Removes expired keys of `runOncePerKey`. */
export async function removeExpiredKeys(
  db: Queryable,
  keys: Pick<KeyStatements, 'removeExpired'>,
  signal?: AbortSignal,
): Promise<void> {
  await removeInBatches({ remove: async (limit) => (await keys.removeExpired(db, { limit })).count, signal });
}
