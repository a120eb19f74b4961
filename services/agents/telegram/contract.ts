/** Telegram: received updates, the jobs that answer them, and the webhook of an agent's bot. */
import { byUsers, job, notAnOperator, nullable, rpc, Type } from '#libs/infrastructure/contract';
import { agentNotFound, slug } from '../agent/contract.ts';

/** Message that the gateway publishes with the body of an update (architecture#webhooks). */
export const TelegramWebhook = Type.Object({
  id: Type.String({ description: 'Request id of the delivery.' }),
  received_at: Type.String({ format: 'date-time' }),
  slug: Type.String({ description: 'Agent slug from the path.' }),
  headers: Type.Record(Type.String(), Type.String()),
  secret_digest: nullable(
    Type.String({
      description: 'HMAC-SHA256 of X-Telegram-Bot-Api-Secret-Token with the key `id`, in hex; null without the header.',
    }),
  ),
});
export const telegramWebhookSubject = 'webhooks.agents.updates';

export const telegramJobs = {
  workChat: job({
    type: 'agents.work-chat',
    summary: 'Processes the next update of a chat. One job per chat keeps replies in order.',
    payload: Type.Object({
      chat_id: Type.Integer({ minimum: 1, description: 'Id of the row, not the Telegram chat id.' }),
    }),
    policy: { maxAttempts: 1_000, firstDelayMs: 500, maxDelayMs: 60_000, timeoutMs: 300_000, concurrency: 64 },
  }),
  echoUpdate: job({
    type: 'agents.echo-update',
    summary: 'Sends a question with its reply, or a raw update, to the echo channel of the agent; best effort, once.',
    payload: Type.Object({
      receipt_id: Type.Integer({ minimum: 1 }),
      what: Type.Union([Type.Literal('mirror'), Type.Literal('raw')]),
    }),
    policy: { maxAttempts: 3, firstDelayMs: 1_000, timeoutMs: 300_000, concurrency: 8 },
  }),
};

const baseUrl = Type.String({
  pattern: '^https?://[^\\s]+$',
  maxLength: 500,
  description: 'Public base URL of the platform.',
});

const botErrors = {
  agent_not_found: agentNotFound,
  bot_not_configured: { code: 'conflict', when: 'The agent has no `config.messaging.bot_token`.' },
  bot_api_failed: { code: 'conflict', when: 'The Bot API rejected the call or cannot be reached.' },
} as const;

export const telegramRpcs = {
  setWebhook: rpc({
    subject: 'agents.operations.set-webhook',
    callers: byUsers,
    audit: 'agent.set-webhook',
    summary: "Registers the agent's webhook and its secret with the Bot API.",
    request: Type.Object({ slug, base_url: baseUrl }),
    reply: Type.Object({ url: Type.String(), allowed_updates: Type.Array(Type.String()), has_secret: Type.Boolean() }),
    errors: {
      ...botErrors,
      not_a_superuser: { code: 'permission_denied', when: 'The caller is not a superuser.' },
      webhook_secret_missing: {
        code: 'conflict',
        when: 'The agent has no webhook secret, and unsigned webhooks are not allowed.',
      },
    },
    timeoutMs: 40_000,
  }),
  getWebhookInfo: rpc({
    subject: 'agents.operations.get-webhook',
    callers: byUsers,
    summary: "State of the agent's webhook at the Bot API.",
    request: Type.Object({ slug }),
    reply: Type.Object({
      url: Type.String({ description: 'Registered address; empty for none.' }),
      username: nullable(Type.String({ description: 'Name of the bot.' })),
      pending_update_count: Type.Integer({ description: 'Updates that Telegram has not delivered.' }),
      last_error_date: nullable(Type.Integer({ description: 'Time of the last failed delivery, Unix seconds.' })),
      last_error_message: nullable(Type.String()),
      allowed_updates: Type.Array(Type.String()),
    }),
    errors: { ...botErrors, ...notAnOperator },
    timeoutMs: 40_000,
  }),
};
