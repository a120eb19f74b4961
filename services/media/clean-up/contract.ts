/** Jobs that hide and remove files. */
import { job, Type } from '#libs/contract';
import { id } from '../schemas.ts';

export const cleanUpJobs = {
  followConversation: job({
    startedBy: ['conversations'],
    type: 'media.follow-conversation',
    summary:
      'Looks at the state of a conversation: its files are hidden while it is deleted, shown again, or removed when it is gone (D67).',
    payload: Type.Object({ conversation_id: id }),
    policy: { maxAttempts: Infinity, firstDelayMs: 1_000, maxDelayMs: 900_000, timeoutMs: 60_000, concurrency: 2 },
  }),
  catchUp: job({
    type: 'media.catch-up',
    summary: 'Compares conversations that have files with their owner, a page at a time: the service may have missed events (D97).',
    payload: Type.Object({ after: Type.Integer({ minimum: 0, description: 'Behind this conversation.' }) }),
    policy: { maxAttempts: Infinity, firstDelayMs: 1_000, maxDelayMs: 300_000, timeoutMs: 600_000, concurrency: 1 },
  }),
  deleteBlob: job({
    type: 'media.delete-blob',
    summary: 'Deletes an object that nothing refers to any more, and its record; delayed so that running downloads can finish.',
    payload: Type.Object({ blob_id: id }),
    policy: { maxAttempts: 50, firstDelayMs: 5_000, maxDelayMs: 3_600_000, timeoutMs: 60_000, concurrency: 2 },
  }),
};
