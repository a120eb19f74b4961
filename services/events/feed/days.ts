/** The tables of days: added before the day begins, dropped after the retention (V2, V3). */
import type { Logger } from '#libs/logger';
import type { Database } from '#libs/orm';
import { removeInBatches } from '#libs/retention';
import type { Metrics } from '#libs/telemetry';
import {
  addDay,
  countDays,
  deleteOther,
  dropDay,
  excludeDay,
  listEndedDays,
  listMissingDays,
  raiseFloor,
  validateDay,
} from './statements/days.ts';

const dayMs = 86_400_000;
/** Days for which there is a table before they begin: locks of other transactions may prevent adding it for so long. */
const daysAhead = 7;

interface Dependencies {
  readonly db: Database;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly retentionDays: number;
}

interface Ending {
  readonly signal?: AbortSignal | undefined;
  readonly budgetMs?: number | undefined;
}

const dayAt = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** The coming days. */
const comingDays = (): { first: string; last: string } => ({
  first: dayAt(Date.now() + dayMs),
  last: dayAt(Date.now() + daysAhead * dayMs),
});

/** Shows for how many days in a row, from tomorrow on, there is a table. */
export function measureDays({ db, metrics }: Pick<Dependencies, 'db' | 'metrics'>): void {
  metrics.gauge('feed_days_ahead', 'Coming days in a row for which the feed has a table', [], async (gauge) => {
    gauge.set((await countDays(db, comingDays())).days);
  });
}

/**
 * Adds the tables of today and the coming days. Without its table a day is stored in the default partition.
 * @throws what adding a table failed with; the next call goes on there
 */
export async function addDays({ db, logger }: Pick<Dependencies, 'db' | 'logger'>): Promise<void> {
  for (const { day } of await listMissingDays(db, { first: dayAt(Date.now()), last: comingDays().last })) {
    if ((await excludeDay(db, { day })).excluded) await validateDay(db, { day });
    await addDay(db, { day });
    logger.info({ day }, 'feed: added the table of a day');
  }
}

/** Ends the events that are older than the retention. */
export async function endDays({ db, retentionDays }: Pick<Dependencies, 'db' | 'retentionDays'>, ending: Ending = {}): Promise<void> {
  const before = new Date(Date.now() - retentionDays * dayMs).toISOString();
  await raiseFloor(db, { before });
  await dropEnded(db, before, ending);
}

/** Removes the rows of events that are no longer read. @throws what dropping a table failed with; the next call goes on there */
export async function dropEnded(db: Database, before: string, ending: Ending = {}): Promise<void> {
  await removeInBatches({ remove: async (limit) => (await deleteOther(db, { before, limit })).count, ...ending });
  for (const { day } of await listEndedDays(db, { before })) await dropDay(db, { day });
}
