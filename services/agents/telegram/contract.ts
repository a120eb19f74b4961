/** Updates of messaging chats: how they arrive, and the jobs that answer them. */
import { job, nullable, Type } from '#libs/contract';

/** What the gateway says of an update, besides its body (architecture#webhooks). */
export const TelegramWebhook = Type.Object({
  id: Type.String({ description: 'Request id of the intake; one per delivery.' }),
  received_at: Type.String({ format: 'date-time' }),
  slug: Type.String({ description: "The path's agent as it was written." }),
  headers: Type.Record(Type.String(), Type.String()),
  secret_digest: nullable(
    Type.String({ description: 'HMAC-SHA256 under `id` of X-Telegram-Bot-Api-Secret-Token, in hex; null when the header was not sent.' }),
  ),
});
export const telegramWebhookSubject = 'webhooks.agents.updates';

export const telegramJobs = {
  workChat: job({
    type: 'agents.work-chat',
    summary: 'Answers the next update of a chat; there is one such job per chat, so that its messages are answered in order.',
    payload: Type.Object({ chat_id: Type.Integer({ minimum: 1, description: 'Row of the chat, not its number with Telegram.' }) }),
    policy: { maxAttempts: 1_000, firstDelayMs: 500, maxDelayMs: 60_000, timeoutMs: 300_000, concurrency: 64 },
  }),
  echoUpdate: job({
    type: 'agents.echo-update',
    summary: 'Sends a question with its answer, or an update as it came, to the echo channel of the agent; best effort, once.',
    payload: Type.Object({ receipt_id: Type.Integer({ minimum: 1 }), what: Type.Union([Type.Literal('mirror'), Type.Literal('raw')]) }),
    policy: { maxAttempts: 3, firstDelayMs: 1_000, timeoutMs: 300_000, concurrency: 8 },
  }),
};
