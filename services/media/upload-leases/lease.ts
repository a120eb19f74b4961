/** Leases of uploads: each is recorded before its first byte and gives signs of life, so that the sweep can tell the dead ones. */
import { unavailable } from '#libs/errors';
import { keepLease } from '#libs/lease';
import type { Logger } from '#libs/logger';
import type { Database } from '#libs/orm';
import { abandonUpload, beginUpload, renewUpload } from './statements.ts';

export interface LeaseDependencies {
  db: Database;
  logger: Logger;
  leaseSeconds: number;
  /** Asks for a sweep soon, after an upload that failed. */
  sweepSoon: () => void;
}

export interface StoreLease {
  objectKey: string;
  /** Aborts when the sweep has taken the upload for dead. */
  lost: AbortSignal;
  close(): void;
}

/** Records the upload before its first byte, and gives signs of life until closed. */
export async function openLease({ db, leaseSeconds, logger }: LeaseDependencies, objectKey: string): Promise<StoreLease> {
  await beginUpload(db, { objectKey, leaseSeconds });
  const lease = keepLease({
    leaseMs: leaseSeconds * 1000,
    renew: async () => (await renewUpload(db, { objectKey, leaseSeconds })) !== undefined,
    onFailure: (error) => logger.warn({ err: error }, 'lease of an upload could not be renewed'),
    reason: () => unavailable('The upload took too long without a sign of life'),
  });
  return { objectKey, lost: lease.lost, close: () => lease.stop() };
}

/** Removes what is left of a failed upload; what cannot be reached now is left to the sweep. */
export async function discardUpload(deps: LeaseDependencies, lease: StoreLease): Promise<void> {
  lease.close();
  try {
    await abandonUpload(deps.db, lease);
    deps.sweepSoon();
  } catch (error) {
    deps.logger.warn({ err: error }, 'a failed upload is left to the sweep');
  }
}
