/** `admin.agents.webhook.*`: registers an agent's webhook with the Bot API and tells what it knows of it (rules/providers#telegram-webhook). */
import { recordAudit } from '#libs/audit';
import { appError } from '#libs/errors';
import type { Handlers } from '#libs/nats';
import type { Database } from '#libs/orm';
import type { Queryable } from '#libs/sql';
import { findMessagingAgent, type MessagingAgent } from '../agent/index.ts';
import type { agents } from '../contract.ts';
import { type BotApi, BotApiFailure } from './bot-api.ts';

/** What is answered or echoed. Reactions, polls and inline queries are not asked for. */
const allowedUpdates = ['message', 'edited_message', 'channel_post', 'edited_channel_post', 'my_chat_member'];

export function createBotWebhookHandlers({
  db,
  bot,
  allowUnsigned,
}: {
  db: Database;
  bot: BotApi;
  allowUnsigned: boolean;
}): Pick<Handlers<typeof agents>, 'setWebhook' | 'getWebhookInfo'> {
  async function getBot(on: Queryable, slug: string): Promise<MessagingAgent & { bot_token: string }> {
    const agent = await findMessagingAgent(on, { slug });
    if (agent === undefined) throw appError('not_found', 'agent_not_found', `No agent has the slug "${slug}"`);
    const { bot_token: token } = agent;
    if (token === null) throw appError('conflict', 'bot_not_configured', 'The agent has no config.messaging.bot_token.');
    return { ...agent, bot_token: token };
  }
  return {
    setWebhook: async ({ slug, base_url: baseUrl }, context) =>
      // The Bot API is told when the database is there to keep the entry, and only then (A1); told twice, it knows the same.
      db.transaction(async (tx) => {
        const agent = await getBot(tx, slug);
        const url = `${baseUrl.replace(/(?<!\/)\/+$/, '')}/api/hook/agents/${encodeURIComponent(agent.slug)}`;
        const secret = agent.webhook_secret ?? undefined;
        if (secret === undefined && !allowUnsigned) {
          const message =
            'The agent has no config.messaging.webhook_secret: whatever Telegram sends would be rejected (rejected_unsigned).';
          throw appError('conflict', 'webhook_secret_missing', message);
        }
        await toAppError(bot.setWebhook(agent.bot_token, { url, secret, allowedUpdates }));
        recordAudit(tx, context, { target: { type: 'agent', id: agent.slug }, changes: { url } });
        return { url, allowed_updates: allowedUpdates, has_secret: secret !== undefined };
      }),
    getWebhookInfo: async ({ slug }) => {
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
    if (error instanceof BotApiFailure) throw appError('conflict', 'bot_api_failed', `The Bot API refused: ${error.message}`);
    throw error;
  }
}
