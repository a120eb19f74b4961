/** The webhook of an agent's bot, as operators set and see it. */
import { byOperators, nullable, rpc, Type } from '#libs/contract';
import { agentNotFound, slug } from '../schemas.ts';

const botErrors = {
  agent_not_found: agentNotFound,
  bot_not_configured: { code: 'conflict', when: 'The agent has no `config.messaging.bot_token`.' },
  bot_api_failed: { code: 'conflict', when: 'The Bot API refused the call or could not be reached.' },
} as const;

export const botRpcs = {
  setWebhook: rpc({
    subject: 'admin.agents.webhook.set',
    callers: byOperators,
    audit: 'agent.set-webhook',
    summary: "Registers the agent's webhook with the Bot API, its secret included.",
    request: Type.Object({
      slug,
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
    request: Type.Object({ slug }),
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
