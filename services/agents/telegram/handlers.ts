/** Registers an agent's webhook with the Bot API and shows how it is registered (rules/providers#telegram-webhook). */
import { requireOpsReader } from '#libs/infrastructure/actor';
import { recordAudit } from '#libs/infrastructure/audit';
import { appError } from '#libs/infrastructure/errors';
import type { Handlers } from '#libs/infrastructure/nats';
import type { Queryable } from '#libs/infrastructure/sql';
import { findMessagingAgent, type MessagingAgent } from '../agent/index.ts';
import type { agents } from '../contract.ts';
import type { Dependencies } from '../dependencies.ts';
import type { telegramRpcs } from './contract.ts';
import { BotApiFailure } from './bot-api.ts';

/** Types of updates that are answered or echoed. Reactions, polls and inline queries are not requested. */
const allowedUpdates = ['message', 'edited_message', 'channel_post', 'edited_channel_post', 'my_chat_member'];

export function createTelegramHandlers({
  bot,
  config,
  db,
}: Pick<Dependencies, 'bot' | 'config' | 'db'>): Pick<Handlers<typeof agents>, keyof typeof telegramRpcs> {
  async function getBot(on: Queryable, slug: string): Promise<MessagingAgent & { bot_token: string }> {
    const agent = await findMessagingAgent(on, { slug });
    if (agent === undefined) throw appError('not_found', 'agent_not_found', `No agent has the slug "${slug}"`);
    const { bot_token: token } = agent;
    if (token === null)
      throw appError('conflict', 'bot_not_configured', 'The agent has no `config.messaging.bot_token`.');
    return { ...agent, bot_token: token };
  }
  return {
    setWebhook: async ({ slug, base_url: baseUrl }, context) => {
      // The caller chooses the receiver of updates and of the secret that signs them.
      if (context.actor?.kind !== 'user' || !context.actor.superuser)
        throw appError('permission_denied', 'not_a_superuser', 'Only superusers may register webhooks.');
      // The Bot API is called in the transaction of the audit entry (A1). A repeated call has no further effect.
      return db.transaction(async (tx) => {
        const agent = await getBot(tx, slug);
        const url = `${baseUrl.replace(/(?<!\/)\/+$/, '')}/api/hook/agents/${encodeURIComponent(agent.slug)}`;
        const secret = agent.webhook_secret ?? undefined;
        if (secret === undefined && !config.ALLOW_UNSIGNED_WEBHOOKS) {
          const message =
            'The agent has no config.messaging.webhook_secret, so that updates of Telegram would be rejected (rejected_unsigned).';
          throw appError('conflict', 'webhook_secret_missing', message);
        }
        await toAppError(bot.setWebhook(agent.bot_token, { url, secret, allowedUpdates }));
        recordAudit(tx, context, { target: { type: 'agent', id: agent.slug }, changes: { url } });
        return { url, allowed_updates: allowedUpdates, has_secret: secret !== undefined };
      });
    },
    getWebhookInfo: async ({ slug }, { actor }) => {
      requireOpsReader(actor);
      const agent = await getBot(db, slug);
      const info = await toAppError(bot.getWebhookInfo(agent.bot_token));
      const identity = await bot.identify(agent.bot_token);
      return {
        url: info.url,
        username: identity?.username ?? null,
        pending_update_count: info.pendingUpdateCount,
        last_error_date: info.lastErrorDate ?? null,
        last_error_message: info.lastErrorMessage ?? null,
        allowed_updates: [...info.allowedUpdates],
      };
    },
  };
}

async function toAppError<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof BotApiFailure)
      throw appError('conflict', 'bot_api_failed', `The Bot API rejected the call: ${error.message}`);
    throw error;
  }
}
