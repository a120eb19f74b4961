/**
 * Leases of uploads. Each upload is recorded before its first byte and renewed while it runs, so that the sweep can
 * detect uploads of dead processes.
 */
import { unavailable } from '#libs/infrastructure/errors';
import { renewLease } from '#libs/infrastructure/concurrency';
import type { Dependencies } from '../dependencies.ts';
import { abandonUpload, renewUpload, startUpload } from './statements.ts';

export { abandonUpload, finishUpload, renewUpload, startUpload } from './statements.ts';

export interface UploadLease {
  readonly objectKey: string;
  /** Aborts when the lease has expired and the sweep has claimed the upload. */
  readonly lost: AbortSignal;
  /** Stops renewing the lease. */
  close(): void;
}

/** Records the upload before its first byte, and renews its lease until `close` is called. */
export async function acquireUploadLease(
  { db, config, logger }: Pick<Dependencies, 'db' | 'config' | 'logger'>,
  objectKey: string,
): Promise<UploadLease> {
  const leaseSeconds = config.MEDIA_UPLOAD_LEASE_SECONDS;
  await startUpload(db, { objectKey, leaseSeconds });
  const lease = renewLease({
    leaseMs: leaseSeconds * 1000,
    renew: async () => (await renewUpload(db, { objectKey, leaseSeconds })) !== undefined,
    onFailure: (error) => logger.warn({ err: error }, 'failed to renew the lease of an upload'),
    reason: uploadExpired,
  });
  return { objectKey, lost: lease.lost, close: () => lease.stop() };
}

/** Returns the error of an upload whose lease expired. */
export function uploadExpired(): Error {
  return unavailable('The lease of the upload expired. Upload the file again.');
}

/**
 * Marks a failed upload for the sweep, which removes the stored bytes. When this fails, the lease expires and the sweep
 * removes them later.
 */
export async function discardUpload(
  { db, logger, requestSweep }: Pick<Dependencies, 'db' | 'logger' | 'requestSweep'>,
  lease: UploadLease,
): Promise<void> {
  lease.close();
  try {
    await abandonUpload(db, lease);
    requestSweep();
  } catch (error) {
    logger.warn({ err: error }, 'failed to discard an upload, leaving it to the sweep');
  }
}
