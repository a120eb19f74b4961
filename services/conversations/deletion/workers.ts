/**
 * Removes deleted conversations permanently after the retention (D67). Runs in every replica, and skips rows that
 * another replica has locked.
 */
import { formatInstant } from '#libs/infrastructure/time';
import type { Dependencies } from '../dependencies.ts';
import { notifyRemoved, retentionMicros } from './index.ts';
import { countExpired, removeExpired } from './statements.ts';

const usualIntervalMs = 10_000;

/** Maximum number of conversations per transaction. */
const batch = 100;

/** Delay after which a removal counts as overdue. */
const lateMicros = 3_600_000_000n;

export interface Removal {
  start(): void;
  stop(): Promise<void>;
}

export function createRemoval(
  { db, jobs, clock, config, logger, metrics }: Dependencies,
  intervalMs = usualIntervalMs,
): Removal {
  const end = (lateBy = 0n): string => formatInstant(clock.now() - retentionMicros(config) - lateBy);
  metrics.gauge(
    'deleted_conversations_overdue',
    'Deleted conversations whose permanent removal is more than an hour late',
    [],
    async (gauge) => {
      gauge.set((await countExpired(db, { deletedBefore: end(lateMicros) })).count);
    },
  );
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  const stopping = new AbortController();
  const run = async (): Promise<void> => {
    for (let full = true; full && !stopping.signal.aborted;) {
      const ids = await jobs.transaction(async (tx) => {
        const rows = await removeExpired(tx, { deletedBefore: end(), limit: batch });
        const removed = rows.map(({ id }) => id);
        await notifyRemoved(jobs, tx, removed);
        return removed;
      });
      if (ids.length > 0) logger.info({ conversations: ids }, 'deleted conversations were removed permanently');
      full = ids.length === batch;
    }
  };
  return {
    start: () => {
      timer = setInterval(() => {
        running ??= run()
          .catch((error: unknown) => logger.error({ err: error }, 'failed to remove deleted conversations'))
          .finally(() => (running = undefined));
      }, intervalMs);
    },
    stop: async () => {
      stopping.abort();
      clearInterval(timer);
      await running;
    },
  };
}
