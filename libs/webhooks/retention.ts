/** The end of receipts (D68): bodies go after `RECEIPT_RETENTION_DAYS`, and so do the rows of what was rejected or ignored. */
import type { Logger } from '#libs/logger';
import type { Database, Statement } from '#libs/orm';
import { passingOutcomes } from './receipts.ts';

export interface ReceiptRetention {
  readonly db: Pick<Database, 'query'>;
  readonly logger: Logger;
  /** Whose table `webhook_receipts` it is. */
  readonly schema: string;
  /** Columns that hold what came or was answered; null when it is gone. One partial index tells the rows that have any of them by their time. */
  readonly contents: readonly string[];
  readonly days: number;
}

const sweepIntervalMs = 600_000;
/** Rows of one statement, so that no lock is held for long. */
const batch = 500;

/** Removes what is too old, in batches; what another replica removes at the same time is left to it. @returns how many of each */
export async function sweepReceipts({ db, schema, contents, days }: ReceiptRetention): Promise<{ rows: number; bodies: number }> {
  const table = `${schema}.webhook_receipts`;
  const old = (condition: string): string =>
    `select id from ${table} where received_at < clock_timestamp() - make_interval(days => $1) and ${condition}
     order by received_at limit ${batch} for update skip locked`;
  const isKept = `(${contents.map((column) => `${column} is not null`).join(' or ')})`;
  const dropRows: Statement = { name: 'receipts.drop-old', text: `delete from ${table} where id in (${old(passingOutcomes)}) returning 1` };
  const dropBodies: Statement = {
    name: 'receipts.drop-old-bodies',
    text: `update ${table} set ${contents.map((column) => `${column} = null`).join(', ')} where id in (${old(isKept)}) returning 1`,
  };
  const sweep = async (statement: Statement): Promise<number> => {
    for (let count = 0; ;) {
      const { length } = await db.query(statement, [days]);
      count += length;
      if (length < batch) return count;
    }
  };
  return { rows: await sweep(dropRows), bodies: await sweep(dropBodies) };
}

/** Sweeps now and every ten minutes. Returns the end of it. */
export function startReceiptRetention(retention: ReceiptRetention): () => void {
  const run = (): void => {
    sweepReceipts(retention).catch((error: unknown) => retention.logger.warn({ err: error }, 'old receipts of webhooks stay for now'));
  };
  run();
  const timer = setInterval(run, sweepIntervalMs);
  return () => clearInterval(timer);
}
