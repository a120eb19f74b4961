/** Test fixture: Telegram chats of an agent, with a scripted Bot API server. */
import { createHmac, randomUUID } from 'node:crypto';
import type { ReplyOf } from '#libs/infrastructure/contract';
import { agents, telegramWebhookSubject } from '#services/agents';
import { packWebhooks } from '#libs/product/webhooks';
import { contextFor, startTelegram, type TelegramServer, waitFor } from '#libs/product/testing';
import { type AgentFixture, startAgentFixture } from './fixture.ts';

export const botToken = '4242:test-bot-token';
export const webhookSecret = 'webhook-secret_of-the-tests_1';
export const echoChannel = -1_009_999;

export type Receipt = ReplyOf<typeof agents.rpcs.showWebhook>;

export interface Message {
  readonly text?: string;
  readonly chat?: object;
  readonly [field: string]: unknown;
}

export interface TelegramFixture {
  readonly agents: AgentFixture;
  readonly telegram: TelegramServer;
  /** Returns an unused number for a chat or update. */
  next(): number;
  /** Publishes an update as the gateway does. Returns the delivery id. */
  deliver(
    update: unknown,
    options?: { slug?: string; secret?: string | null; headers?: Record<string, string>; deliveryId?: string },
  ): Promise<string>;
  /** Returns an update with a message; the default of `chat` is the private chat `chatId`. */
  compose(chatId: number, message: Message): { update_id: number; message: Record<string, unknown> };
  /** Sends a text and returns its receipt once the receipt is settled. */
  ask(chatId: number, message: Message, slug?: string): Promise<Receipt>;
  /** Waits until the receipt of an update is settled and returns it. */
  settled(updateId: number): Promise<Receipt>;
  find(updateId: number): Promise<Receipt | undefined>;
  replay(id: number): Promise<ReplyOf<typeof agents.rpcs.replayWebhooks>>;
  stop(): Promise<void>;
}

const open = new Set(['pending', 'answering']);
let counter = 1_000;

/** Starts the fixture. On a busy machine, a longer TELEGRAM_TIMEOUT_MS prevents sends from timing out. */
export async function startTelegramFixture(
  fileUrl: string,
  overrides: Record<string, string> = {},
): Promise<TelegramFixture> {
  const telegram = await startTelegram();
  const agentFixture = await startAgentFixture(fileUrl, { TELEGRAM_API_ROOT: telegram.apiRoot, ...overrides });
  agentFixture.env.onStop(() => telegram.stop());
  await agentFixture.apply([
    {
      slug: 'guide',
      name: 'Guide',
      prompt: 'You are the guide.',
      config: { messaging: { bot_token: botToken, webhook_secret: webhookSecret } },
    },
    {
      slug: 'mirrored',
      name: 'Mirrored',
      config: { messaging: { bot_token: botToken, webhook_secret: webhookSecret, echo_channel: String(echoChannel) } },
    },
    { slug: 'mute', name: 'Mute', config: { messaging: { webhook_secret: webhookSecret } } },
  ]);
  agentFixture.llm.answerWith((messages) => `You said: ${messages.at(-1)?.content}`);
  const { showWebhook, replayWebhooks } = agents.rpcs;

  const deliver: TelegramFixture['deliver'] = async (update, options = {}) => {
    const {
      slug = 'guide',
      secret = webhookSecret,
      headers = { 'content-type': 'application/json' },
      deliveryId = randomUUID(),
    } = options;
    const body = update === null ? null : Buffer.isBuffer(update) ? update : Buffer.from(JSON.stringify(update));
    const facts = {
      id: deliveryId,
      received_at: new Date().toISOString(),
      slug,
      headers,
      secret_digest: secret === null ? null : createHmac('sha256', deliveryId).update(secret).digest('hex'),
    };
    await agentFixture.bus.publishDurable(telegramWebhookSubject, packWebhooks([{ facts, body }]), {
      msgId: randomUUID(),
    });
    return deliveryId;
  };
  const find = async (updateId: number): Promise<Receipt | undefined> => {
    const [found] = await agentFixture.env.sql<{ id: string }>(
      'select id from agents.webhook_receipts where update_id = $1 order by received_at desc, id desc limit 1',
      [updateId],
    );
    if (found === undefined) return undefined;
    return await agentFixture.bus.call(showWebhook, { id: Number(found.id) }, contextFor(showWebhook));
  };
  const settled = (updateId: number): Promise<Receipt> =>
    waitFor(
      async () => {
        const receipt = await find(updateId);
        return receipt !== undefined && !open.has(receipt.outcome) ? receipt : undefined;
      },
      { what: `the end of update ${updateId}` },
    );
  const compose: TelegramFixture['compose'] = (chatId, message) => ({
    update_id: counter++,
    message: {
      message_id: counter,
      date: Math.floor(Date.now() / 1000),
      from: { id: Math.abs(chatId), is_bot: false, first_name: 'Ann' },
      chat: { id: chatId, type: chatId > 0 ? 'private' : 'group', title: 'Group' },
      ...message,
    },
  });
  return {
    agents: agentFixture,
    telegram,
    next: () => counter++,
    deliver,
    compose,
    ask: async (chatId, message, slug = 'guide') => {
      const update = compose(chatId, message);
      await deliver(update, { slug });
      return await settled(update.update_id);
    },
    settled,
    find,
    replay: (id) => agentFixture.bus.call(replayWebhooks, { ids: [id], limit: 1 }, contextFor(replayWebhooks)),
    stop: () => agentFixture.stop(),
  };
}
