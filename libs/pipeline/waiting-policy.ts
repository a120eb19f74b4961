/** How a pipeline job waits for what others have still to deliver. */
import type { JobPolicy } from '#libs/contract';

/**
 * Recordings, transcripts, audio and texts come late, and the provider keeps its own for seven days: first after 15 s, then less and
 * less often up to every 15 minutes, and dead when the seven days are over (D7a). A declaration adds its time and concurrency.
 */
export const waitingPolicy = Object.freeze({
  maxAttempts: Number.POSITIVE_INFINITY,
  firstDelayMs: 15_000,
  maxDelayMs: 900_000,
  expiresAfterMs: 7 * 24 * 3_600_000,
} satisfies Partial<JobPolicy>);
