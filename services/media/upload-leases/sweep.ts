/**
 * Removes expired tickets, and objects of uploads whose process died or which failed while the store was unavailable.
 */
import type { Dependencies } from '../dependencies.ts';
import { deleteExpiredTickets } from '../http/index.ts';
import { claimExpiredUpload, deleteUpload } from './statements.ts';

export interface UploadSweeper {
  start(): void;
  /** Requests another sweep, which starts when the running sweep has ended. */
  request(): void;
  stop(): Promise<void>;
}

/** Time for removing one upload, after which another replica retries the removal. */
const removalLeaseSeconds = 60;

/**
 * Creates the sweeper, which runs in each replica at intervals of half a lease. Replicas share the work through the
 * database.
 */
export function createUploadSweeper({
  config,
  db,
  store,
  logger,
}: Pick<Dependencies, 'config' | 'db' | 'store' | 'logger'>): UploadSweeper {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let isRequested = false;
  const stopping = new AbortController();

  const sweepAll = async (): Promise<void> => {
    await deleteExpiredTickets(db);
    do {
      isRequested = false;
      while (!stopping.signal.aborted) {
        const expired = await claimExpiredUpload(db, { leaseSeconds: removalLeaseSeconds });
        if (expired === undefined) break;
        const { object_key: objectKey } = expired;
        await store.removeUpload(objectKey);
        await deleteUpload(db, { objectKey });
        logger.info({ objectKey }, 'unfinished upload removed');
      }
    } while (isRequested && !stopping.signal.aborted);
  };
  const request = (): void => {
    isRequested = true;
    if (running !== undefined || stopping.signal.aborted) return;
    running = sweepAll()
      .catch((error: unknown) => logger.warn({ err: error }, 'failed to sweep unfinished uploads, retrying'))
      .finally(() => (running = undefined));
  };
  return {
    start: () => {
      timer = setInterval(request, config.MEDIA_UPLOAD_LEASE_SECONDS * 500);
      request();
    },
    request,
    stop: async () => {
      stopping.abort();
      clearInterval(timer);
      await running;
    },
  };
}
