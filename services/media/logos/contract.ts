/** Contract of the job that deletes logos. */
import { job, Type } from '#libs/infrastructure/contract';
import { id } from '../schemas.ts';

export const logoJobs = {
  retireLogo: job({
    startedBy: ['directory'],
    type: 'media.retire-logo',
    summary: 'Deletes the logo of a deleted holon; delayed so that running downloads can finish.',
    payload: Type.Object({ holon_id: id }),
    policy: { maxAttempts: 50, firstDelayMs: 5_000, maxDelayMs: 3_600_000, timeoutMs: 60_000, concurrency: 2 },
  }),
};
