import type { Jobs } from '#libs/jobs';
import type { CallContext } from '#libs/nats';
import type { Tx } from '#libs/orm';
import { cleanUpJobs } from './clean-up/contract.ts';

export interface DeletionDependencies {
  readonly jobs: Pick<Jobs, 'enqueue'>;
  /** Time that a replaced file is kept. */
  readonly graceSeconds: number;
}

/** Has the objects of retired records deleted when running downloads can have finished. */
export async function deleteLater(
  { jobs, graceSeconds }: DeletionDependencies,
  tx: Tx,
  blobIds: readonly number[],
  origin: Partial<Pick<CallContext, 'requestId' | 'traceparent'>> = {},
): Promise<void> {
  for (const blobId of blobIds) {
    await jobs.enqueue(tx, cleanUpJobs.deleteBlob, { blob_id: blobId }, { ...origin, key: `blob-${blobId}`, delayMs: graceSeconds * 1000 });
  }
}
