import { setTimeout as sleep } from 'node:timers/promises';

/** Options for the removal of old rows in batches (architecture#data). */

export interface Removal {
  /** Removes up to `limit` rows. @returns the number of removed rows */
  readonly remove: (limit: number) => Promise<number>;
  /** When aborted, the removal stops before the next batch. */
  readonly signal?: AbortSignal | undefined;
  /** No batch starts after this time in milliseconds. Default: no limit. */
  readonly budgetMs?: number | undefined;
  /** Fraction of the time that batches may use, so that other work can run. Default 0.5. */
  readonly share?: number;
}

const limits = { first: 1_000, least: 100, most: 20_000 };
/**
 * After a batch faster than `quickMs`, the next batch is twice as large; after one slower than `slowMs`, half as large.
 */
const quickMs = 100;
const slowMs = 400;

/**
 * Removes rows until none remain, the budget is used up or the signal is aborted. @returns the number of removed rows
 */
export async function removeInBatches({ remove, signal, budgetMs = Infinity, share = 0.5 }: Removal): Promise<number> {
  const startedMs = performance.now();
  let total = 0;
  let limit = limits.first;
  for (;;) {
    if (signal?.aborted === true) return total;
    const batchMs = performance.now();
    const removed = await remove(limit);
    const tookMs = performance.now() - batchMs;
    total += removed;
    if (removed < limit || performance.now() - startedMs >= budgetMs) return total;
    limit = nextLimit(limit, tookMs);
    const restMs = (tookMs * (1 - share)) / share;
    await sleep(restMs, undefined, { signal }).catch(() => undefined);
  }
}

/** Returns the size of the next batch, given the size and duration of the last one. */
export function nextLimit(limit: number, tookMs: number): number {
  if (tookMs < quickMs) return Math.min(limits.most, limit * 2);
  if (tookMs > slowMs) return Math.max(limits.least, Math.floor(limit / 2));
  return limit;
}
