/** The end of receipts (D68): bodies go after `RECEIPT_RETENTION_DAYS`, and so do the rows of what was rejected or ignored. */
import { removeInBatches } from '#libs/retention';
import type { Queryable } from '#libs/sql';
import { dropPassed, type DropReceipts } from './statements.ts';

export interface ReceiptRetention {
  readonly db: Queryable;
  /** Of the service's own table: made by `declareDropContents`. */
  readonly dropContents: DropReceipts;
  readonly days: number;
  readonly signal?: AbortSignal | undefined;
}

/** How often to call `sweepReceipts`. */
export const sweepReceiptsEveryMs = 600_000;

/** Removes what is too old, in batches. @returns how many of each */
export async function sweepReceipts({ db, dropContents, days, signal }: ReceiptRetention): Promise<{ rows: number; bodies: number }> {
  const sweep = (drop: DropReceipts): Promise<number> =>
    removeInBatches({ remove: async (limit) => (await drop(db, { days, limit })).count, signal });
  return { rows: await sweep(dropPassed), bodies: await sweep(dropContents) };
}
