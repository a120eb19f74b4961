/** One job at a time has to do with a video on the host: a claim in the database that is renewed while the work lasts. */
import { RetryLater } from '#libs/jobs';
import { keepLease } from '#libs/lease';
import type { Logger } from '#libs/logger';
import type { Database } from '#libs/orm';
import { type ClaimUpload, releaseVideohostUpload, type UploadKey } from './statements.ts';

const claimSeconds = 60;
const busyDelayMs = 15_000;

/** Does the work under the claim; `lost` aborts when another job has it. @throws RetryLater while another job has it */
export async function holdUpload<Known, Result>(
  { db, key, logger, claim }: { db: Database; key: UploadKey; logger: Logger; claim: ClaimUpload<Known> },
  work: (known: Known, lost: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const take = () => claim(db, { ...key, seconds: claimSeconds });
  const known = await take();
  if (known === undefined) throw busy();
  const lease = keepLease({
    leaseMs: claimSeconds * 1000,
    renew: async () => (await take()) !== undefined,
    onFailure: (error) => logger.warn({ err: error }, 'claim of a video on the host could not be renewed'),
    reason: busy,
  });
  try {
    return await work(known, lease.lost);
  } finally {
    lease.stop();
    await releaseVideohostUpload(db, key).catch(() => undefined);
  }
}

export function busy(): RetryLater {
  return new RetryLater('another job has to do with this video', { delayMs: busyDelayMs });
}
