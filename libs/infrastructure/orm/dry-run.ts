import type { Tx } from './database.ts';

/** A database, or another object that runs work in a transaction. */
interface Transactions {
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
}

/** Thrown to roll back the transaction of a dry run; contains the result of its work. */
class DryRunEnd<T> extends Error {
  readonly result: T;

  constructor(result: T) {
    super('end of a dry run');
    this.result = result;
  }
}

/** Runs `work` in a transaction and returns its result. A dry run is rolled back afterwards. */
export async function transactionOrDryRun<T>(
  on: Transactions,
  dryRun: boolean,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
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
