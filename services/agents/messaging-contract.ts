/** The messaging side of the agents contract: inbound updates, their receipts, the jobs that answer them, the bot's webhook. */
import { byOperators, job, receiptFilter, receiptList, receiptReplay, replayedReceipts, rpc, type Static, Type } from '#libs/contract';

const nullable = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) => Type.Union([schema, Type.Null()]);

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

/** Receipts of messaging updates are numbered from here, so that one number names one receipt of any service. */
export const firstUpdateReceiptId = 1_000_000_001;

/** Every outcome of an update. */
export const updateOutcomes = [
  'pending',
  'answering',
  'answered',
  'not_answered',
  'send_unknown',
  'send_refused',
  'blocked',
  'expired',
  'failed',
  'echoed',
  'echo_failed',
  'ignored',
  'migrated',
  'agent_not_found',
  'rejected_secret',
  'rejected_too_large',
  'rejected_unreadable',
  'rejected_unsigned',
] as const;
export type UpdateOutcome = (typeof updateOutcomes)[number];

const updateFilter = receiptFilter(updateOutcomes);

const updateReceipt = Type.Object({
  id: Type.Integer(),
  source: Type.Literal('telegram'),
  received_at: Type.String({ format: 'date-time' }),
  agent_slug: Type.String({ description: "The path's agent as it was written." }),
  update_id: nullable(Type.Integer()),
  kind: nullable(Type.String({ description: 'Field of the update that is set, e.g. `message`.' })),
  chat_id: nullable(Type.Integer()),
  outcome: Type.String({
    description:
      'pending, answering, answered, not_answered (the model failed and the chat was told), send_unknown (a send may or may not have arrived: ' +
      'review it), send_refused, blocked, expired, failed, echoed, echo_failed, ignored, migrated, rejected_unsigned, rejected_secret, ' +
      'rejected_unreadable, rejected_too_large, agent_not_found.',
  }),
  message: nullable(Type.String({ description: 'More about the outcome.' })),
  deliveries: Type.Integer(),
  processed_at: nullable(Type.String({ format: 'date-time' })),
  body_digest: nullable(Type.String({ description: 'SHA-256 of the body as it came, in hex; null when it was too large to be read.' })),
  body_size: nullable(Type.Integer({ minimum: 0, description: 'Bytes of the body as it came; null when it was too large to be read.' })),
});
export type UpdateReceipt = Static<typeof updateReceipt>;

const send = Type.Object({
  part: Type.Integer({ description: '1 for the first part of the reply.' }),
  status: Type.String({ description: 'planned, sending, sent, unknown, refused, blocked or given_up.' }),
  chat_id: nullable(Type.Integer({ description: 'Where it was sent last.' })),
  message_id: nullable(Type.Integer({ description: "Telegram's number of the sent message." })),
  error: nullable(Type.String()),
  updated_at: Type.String({ format: 'date-time' }),
});

const receiptId = Type.Object({ id: Type.Integer() });
const agentSlug = Type.Object({ slug: Type.String({ description: 'Slug of the agent.' }) });
const botErrors = {
  agent_not_found: { code: 'not_found', when: 'No agent has that slug.' },
  bot_not_configured: { code: 'conflict', when: 'The agent has no `config.messaging.bot_token`.' },
  bot_api_failed: { code: 'conflict', when: 'The Bot API refused the call or could not be reached.' },
} as const;

export const messagingRpcs = {
  listReceipts: rpc({
    subject: 'admin.agents.receipts.list',
    callers: byOperators,
    summary: 'Receipts of messaging updates, newest first.',
    request: receiptList(updateFilter),
    reply: Type.Object({ items: Type.Array(updateReceipt) }),
  }),
  showReceipt: rpc({
    subject: 'admin.agents.receipts.show',
    callers: byOperators,
    summary: 'One receipt with its update and the sends of its reply. 404 when absent.',
    request: receiptId,
    reply: Type.Object({
      ...updateReceipt.properties,
      body: nullable(
        Type.String({ description: 'The update as it came; null when it was rejected or ignored, is too old, or was forgotten.' }),
      ),
      sends: Type.Array(send),
    }),
  }),
  replayReceipt: rpc({
    subject: 'admin.agents.receipts.replay',
    callers: byOperators,
    summary:
      'Works an update again. An answered one is not answered again; a send of unknown outcome is repeated, which may show it twice. 404 when absent.',
    request: receiptId,
    reply: Type.Object({ id: Type.Integer(), job_id: nullable(Type.String({ description: 'Null when there is nothing left to do.' })) }),
    errors: {
      receipt_without_body: { code: 'conflict', when: 'The update was not kept, so that there is nothing to replay.' },
      agent_not_found: { code: 'not_found', when: 'Still no agent has the slug.' },
    },
  }),
  replayReceipts: rpc({
    subject: 'admin.agents.receipts.replay-many',
    callers: byOperators,
    summary: 'Works the updates again that match, oldest first; each as by itself.',
    request: receiptReplay(updateFilter),
    reply: Type.Object({ ...replayedReceipts.properties, no_agent: Type.Integer({ description: 'Those whose agent there is not.' }) }),
    timeoutMs: 120_000,
  }),
  setWebhook: rpc({
    subject: 'admin.agents.webhook.set',
    callers: byOperators,
    summary: "Registers the agent's webhook with the Bot API, its secret included.",
    request: Type.Object({
      ...agentSlug.properties,
      base_url: Type.String({ pattern: '^https?://[^\\s]+$', description: 'Public base URL of the platform.' }),
    }),
    reply: Type.Object({ url: Type.String(), allowed_updates: Type.Array(Type.String()), has_secret: Type.Boolean() }),
    errors: {
      ...botErrors,
      webhook_secret_missing: { code: 'conflict', when: 'The agent has no webhook secret, and unsigned webhooks are not allowed.' },
    },
    timeoutMs: 40_000,
  }),
  getWebhookInfo: rpc({
    subject: 'admin.agents.webhook.info',
    callers: byOperators,
    summary: 'What the Bot API knows about the webhook of the agent.',
    request: agentSlug,
    reply: Type.Object({
      url: Type.String(),
      username: nullable(Type.String()),
      pending_update_count: Type.Integer(),
      last_error_date: nullable(Type.Integer()),
      last_error_message: nullable(Type.String()),
      allowed_updates: Type.Array(Type.String()),
    }),
    errors: botErrors,
    timeoutMs: 40_000,
  }),
};

export const messagingJobs = {
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
