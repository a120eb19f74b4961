/** Contract: what a service that was away has missed (D97). */
import { job, Type } from '#libs/contract';

export const catchUpJobs = {
  catchUp: job({
    type: 'transcripts.catch-up',
    summary:
      'Compares conversations with their owner, a page at a time: events are kept for a day, and the service may have been away longer (D97).',
    payload: Type.Object({ after: Type.Integer({ minimum: 0, description: 'Behind this conversation.' }) }),
    policy: { maxAttempts: Infinity, firstDelayMs: 1_000, maxDelayMs: 300_000, timeoutMs: 600_000, concurrency: 1 },
  }),
} as const;
