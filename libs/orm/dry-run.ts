import type { Tx } from './database.ts';

/** A database, or what else runs work in a transaction. */
interface Transactions {
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
}

/** Ends the transaction of a dry run, with what its work returned. */
class DryRunEnd<T> extends Error {
  readonly result: T;

  constructor(result: T) {
    super('end of a dry run');
    this.result = result;
  }
}

/** Runs `work` in a transaction; that of a dry run is rolled back when the work is done, so that it tells what would happen. */
export async function transactionOrDryRun<T>(on: Transactions, dryRun: boolean, work: (tx: Tx) => Promise<T>): Promise<T> {
  if (!dryRun) return on.transaction(work);
  try {
    return await on.transaction(async (tx): Promise<never> => {
      throw new DryRunEnd(await work(tx));
    });
  } catch (error) {
    if (error instanceof DryRunEnd) return error.result as T;
    throw error;
  }
}
