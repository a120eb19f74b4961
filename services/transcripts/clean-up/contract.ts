/** Contract of the jobs that remove permanently deleted conversations. */
import { job, Type } from '#libs/infrastructure/contract';

export const cleanUpJobs = {
  forgetConversation: job({
    startedBy: ['conversations'],
    type: 'transcripts.forget-conversation',
    summary: 'Deletes everything of a permanently deleted conversation (D67).',
    payload: Type.Object({ conversation_id: Type.Integer({ minimum: 1 }) }),
    policy: { maxAttempts: Infinity, firstDelayMs: 1_000, maxDelayMs: 900_000, timeoutMs: 60_000, concurrency: 2 },
  }),
  catchUp: job({
    type: 'transcripts.catch-up',
    summary:
      'Compares stored conversations with the conversations service, a page at a time, because events published during a long outage are lost (D97).',
    payload: Type.Object({
      after: Type.Integer({ minimum: 0, description: 'Id of the last conversation of the previous page.' }),
    }),
    policy: { maxAttempts: Infinity, firstDelayMs: 1_000, maxDelayMs: 300_000, timeoutMs: 600_000, concurrency: 1 },
  }),
} as const;

export const cleanUpConsumers = {
  conversationDeleted: {
    stream: 'EVENTS',
    durable: 'transcripts-conversation-deleted',
    filter: 'events.conversations.conversation.deleted',
  },
} as const;
