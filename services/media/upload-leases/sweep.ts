/** Removes what uploads left behind whose process died, or which failed while the store was away, and tickets that nobody used. */
import type { Logger } from '#libs/logger';
import type { ObjectStore } from '#libs/object-store';
import type { Database } from '#libs/orm';
import { dropExpiredTickets } from '../tickets/index.ts';
import { forgetUpload, takeDeadUpload } from './statements.ts';

export interface Sweep {
  start(): void;
  /** Sweeps once more as soon as the running sweep is over. */
  soon(): void;
  stop(): Promise<void>;
}

/** Time for which a dead upload belongs to the replica that removes it; after it another tries. */
const removalLeaseSeconds = 60;

/** Sweeps every half lease, in each replica; they share the work through the database. */
export function createSweep(deps: { db: Database; store: ObjectStore; logger: Logger; leaseSeconds: number }): Sweep {
  const { db, store, logger } = deps;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let again = false;
  const stopping = new AbortController();

  const sweepAll = async (): Promise<void> => {
    await dropExpiredTickets(db);
    do {
      again = false;
      while (!stopping.signal.aborted) {
        const dead = await takeDeadUpload(db, { leaseSeconds: removalLeaseSeconds });
        if (dead === undefined) break;
        const { object_key: objectKey } = dead;
        await store.removeUpload(objectKey);
        await forgetUpload(db, { objectKey });
        logger.info({ objectKey }, 'removed what an unfinished upload left');
      }
    } while (again && !stopping.signal.aborted);
  };
  const run = (): void => {
    again = true;
    if (running !== undefined || stopping.signal.aborted) return;
    running = sweepAll()
      .catch((error: unknown) => logger.warn({ err: error }, 'unfinished uploads could not be swept yet'))
      .finally(() => (running = undefined));
  };
  return {
    start: () => {
      timer = setInterval(run, deps.leaseSeconds * 500);
      run();
    },
    soon: run,
    stop: async () => {
      stopping.abort();
      clearInterval(timer);
      await running;
    },
  };
}
