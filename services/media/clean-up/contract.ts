/** Contract of the jobs that hide and delete files. */
import { job, Type } from '#libs/infrastructure/contract';
import { id } from '../schemas.ts';

export const cleanUpJobs = {
  followConversation: job({
    startedBy: ['conversations'],
    type: 'media.follow-conversation',
    summary:
      'Applies the state of a conversation to its files: hidden while it is deleted, visible again, or deleted with it permanently (D67).',
    payload: Type.Object({ conversation_id: id }),
    policy: { maxAttempts: Infinity, firstDelayMs: 1_000, maxDelayMs: 900_000, timeoutMs: 60_000, concurrency: 2 },
  }),
  catchUp: job({
    type: 'media.catch-up',
    summary:
      'Compares conversations that have files with the conversations service, a page at a time, because events may have been missed (D97).',
    payload: Type.Object({
      after: Type.Integer({ minimum: 0, description: 'Id of the last conversation of the previous page.' }),
    }),
    policy: { maxAttempts: Infinity, firstDelayMs: 1_000, maxDelayMs: 300_000, timeoutMs: 600_000, concurrency: 1 },
  }),
  deleteBlob: job({
    type: 'media.delete-blob',
    summary: 'Deletes an unreferenced object and its record; delayed so that running downloads can finish.',
    payload: Type.Object({ blob_id: id }),
    policy: { maxAttempts: 50, firstDelayMs: 5_000, maxDelayMs: 3_600_000, timeoutMs: 60_000, concurrency: 2 },
  }),
};
