/** Contract: conversations that are gone for good. */
import { job, Type } from '#libs/contract';

export const deletionJobs = {
  forgetConversation: job({
    startedBy: ['conversations'],
    type: 'transcripts.forget-conversation',
    summary: 'Removes everything of a conversation that is gone for good (D67).',
    payload: Type.Object({ conversation_id: Type.Integer({ minimum: 1 }) }),
    policy: { maxAttempts: Infinity, firstDelayMs: 1_000, maxDelayMs: 900_000, timeoutMs: 60_000, concurrency: 2 },
  }),
} as const;

export const deletionConsumers = {
  conversationDeleted: {
    stream: 'EVENTS',
    durable: 'transcripts-conversation-deleted',
    filter: 'events.conversations.conversation.deleted',
  },
} as const;
