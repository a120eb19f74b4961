/** Day tables of the feed: added in advance, dropped after the retention (V2, V3). */
import type { Database } from '#libs/infrastructure/orm';
import { removeInBatches } from '#libs/infrastructure/retention';
import type { Dependencies } from '../dependencies.ts';
import {
  addDay,
  countDays,
  deleteFromDefaultPartition,
  dropDay,
  excludeDay,
  listEndedDays,
  listMissingDays,
  raiseFloor,
  validateDay,
} from './statements/days.ts';

const dayMs = 86_400_000;
/** Number of days for which tables are added in advance, because locks of other transactions can delay the addition. */
const daysAhead = 7;

interface RemovalLimits {
  readonly signal?: AbortSignal | undefined;
  readonly budgetMs?: number | undefined;
}

const dayAt = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

const comingDays = (): { first: string; last: string } => ({
  first: dayAt(Date.now() + dayMs),
  last: dayAt(Date.now() + daysAhead * dayMs),
});

/** Reports how many consecutive days, starting tomorrow, have a table. */
export function measureDays({ db, metrics }: Pick<Dependencies, 'db' | 'metrics'>): void {
  metrics.gauge('feed_days_ahead', 'Coming days in a row for which the feed has a table', [], async (gauge) => {
    gauge.set((await countDays(db, comingDays())).days);
  });
}

/**
 * Adds the tables of today and the following days. Events of a day without a table are stored in the default partition.
 */
export async function addDays({ db, logger }: Pick<Dependencies, 'db' | 'logger'>): Promise<void> {
  for (const { day } of await listMissingDays(db, { first: dayAt(Date.now()), last: comingDays().last })) {
    if ((await excludeDay(db, { day })).excluded) await validateDay(db, { day });
    await addDay(db, { day });
    logger.info({ day }, 'feed: day table added');
  }
}

/** Removes events older than the retention. */
export async function removeOldEvents(
  { db, config }: Pick<Dependencies, 'db'> & { readonly config: Pick<Dependencies['config'], 'EVENTS_RETENTION_DAYS'> },
  limits: RemovalLimits = {},
): Promise<void> {
  const before = new Date(Date.now() - config.EVENTS_RETENTION_DAYS * dayMs).toISOString();
  await raiseFloor(db, { before });
  await removeHiddenEvents(db, before, limits);
}

/** Deletes the rows of hidden events. */
export async function removeHiddenEvents(db: Database, before: string, limits: RemovalLimits = {}): Promise<void> {
  await removeInBatches({
    remove: async (limit) => (await deleteFromDefaultPartition(db, { before, limit })).count,
    ...limits,
  });
  for (const { day } of await listEndedDays(db, { before })) await dropDay(db, { day });
}
