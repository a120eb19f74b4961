/** The end of receipts (D68): bodies go after `RECEIPT_RETENTION_DAYS`, and so do the rows of what was rejected or ignored. */
import type { Queryable } from '#libs/sql';
import { dropPassed, type DropReceipts, sweptAtOnce } from './statements.ts';

export interface ReceiptRetention {
  readonly db: Queryable;
  /** Of the service's own table: made by `declareDropContents`. */
  readonly dropContents: DropReceipts;
  readonly days: number;
}

/** How often to call `sweepReceipts`. */
export const sweepReceiptsEveryMs = 600_000;

/** Removes what is too old, in batches. @returns how many of each */
export async function sweepReceipts({ db, dropContents, days }: ReceiptRetention): Promise<{ rows: number; bodies: number }> {
  const sweep = async (drop: DropReceipts): Promise<number> => {
    for (let count = 0; ;) {
      const { length } = await drop(db, { days });
      count += length;
      if (length < sweptAtOnce) return count;
    }
  };
  return { rows: await sweep(dropPassed), bodies: await sweep(dropContents) };
}
