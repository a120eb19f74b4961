/** Drops idempotency keys when their time is over. */
import { formatInstant } from '#libs/time';
import type { Dependencies } from '../dependencies.ts';
import { dropExpiredKeys, keysAtOnce } from './statements.ts';

/** How often to call `dropOldKeys`. */
export const dropKeysEveryMs = 60_000;

/** Drops the keys whose 24 hours are over, however many came in a minute. */
export async function dropOldKeys({ db, clock }: Pick<Dependencies, 'db' | 'clock'>): Promise<void> {
  const now = formatInstant(clock.now());
  for (let isFull = true; isFull;) isFull = (await dropExpiredKeys(db, { now })).count === keysAtOnce;
}
