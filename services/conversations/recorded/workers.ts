/** Drops idempotency keys when their time is over. */
import { formatInstant } from '#libs/time';
import type { Dependencies } from '../dependencies.ts';
import { dropExpiredKeys } from './statements.ts';

const keySweepMs = 60_000;

const keysPerSweep = 10_000;

/** Drops idempotency keys whose 24 hours are over, now and then. Returns the end of it. */
export function sweepKeys({ db, clock, logger }: Dependencies): () => void {
  const timer = setInterval(() => {
    dropExpiredKeys(db, { now: formatInstant(clock.now()), limit: keysPerSweep }).catch((error: unknown) =>
      logger.warn({ err: error }, 'expired idempotency keys stay for now'),
    );
  }, keySweepMs);
  return () => clearInterval(timer);
}
