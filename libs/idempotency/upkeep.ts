/** Kept answers go when their time is over, and before it those of who keeps too much. */
import type { Queryable } from '#libs/sql';
import { dropExcess, dropExpired } from './statements.ts';

/** How often to call `dropOldAnswers`. */
export const upkeepEveryMs = 60_000;

/** What the answers of one account may take in a service (rules/http#limits). */
const usualMaxBytes = 67_108_864;
/** Of a row beside its body, with its places in the indexes. */
const rowBytes = 512;
const rowsAtOnce = 20_000;

/** An account that keeps more loses its oldest answers: nobody fills the disk with what is only kept for repetitions. */
export async function dropOldAnswers(db: Queryable, maxBytes = usualMaxBytes): Promise<void> {
  await dropExpired(db, { limit: rowsAtOnce });
  await dropExcess(db, { maxBytes, rowBytes });
}
