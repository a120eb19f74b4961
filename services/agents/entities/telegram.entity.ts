/** Chats of the messaging platform, receipts of its updates, and the sends of their replies. */
import { AgentSchema } from './agent.entity.ts';
import { columns, defineEntity, p } from '#libs/orm/entities';
import { MessageSchema } from './thread.entity.ts';

export const TelegramChatSchema = defineEntity({
  name: 'TelegramChat',
  tableName: 'telegram_chats',
  schema: 'agents',
  properties: {
    id: columns.bigint().primary().autoincrement(),
    agent: () => p.manyToOne(AgentSchema).ref(),
    chatId: columns.bigint(),
    /** Number of the supergroup that the group has become. */
    migratedTo: columns.bigint().nullable(),
    /** The bot may not write there; null again when somebody writes to it. */
    blockedAt: columns.instant().nullable(),
    blockedReason: p.text().nullable(),
    /** The one job that works the updates of the chat; null = none waits. */
    jobId: p.uuid().nullable(),
    /** Grows with every attempt: an older attempt writes nothing more. */
    fence: columns.bigint().default(0),
    createdAt: columns.now(),
  },
});

export const WebhookReceiptSchema = defineEntity({
  name: 'WebhookReceipt',
  tableName: 'webhook_receipts',
  schema: 'agents',
  properties: {
    id: columns.bigint().primary().autoincrement(),
    dedupeKey: p.text(),
    deliveryId: p.text(),
    deliveries: p.integer().default(1),
    receivedAt: columns.instant(),
    storedAt: columns.now(),
    /** Place in the stream of webhooks: the order of acceptance. */
    streamSequence: columns.bigint(),
    agentSlug: p.text(),
    agent: () => p.manyToOne(AgentSchema).nullable().ref(),
    updateId: columns.bigint().nullable(),
    kind: p.text().nullable(),
    chatId: columns.bigint().nullable(),
    senderId: columns.bigint().nullable(),
    /** Queue of the chat that works the update; null = it needs no order. */
    chat: () => p.manyToOne(TelegramChatSchema).nullable().ref().joinColumn('chat'),
    /** Those that matter; never the secret. */
    headers: columns.jsonObject(),
    body: p.blob().nullable(),
    outcome: p.text(),
    message: p.text().nullable(),
    /** Outcome when every part of the reply is sent. */
    settlesAs: p.text().nullable(),
    replyHtml: p.text().nullable(),
    echo: p.text().nullable(),
    processedAt: columns.instant().nullable(),
    /** SHA-256 of the body as it came, in hex; null when it was not read. */
    bodyDigest: p.text().nullable(),
    bodySize: p.integer().nullable(),
    /** The secret that came with an update of an unknown agent, as an HMAC, behind the id that is its key and a colon. */
    secretDigest: p.text().nullable(),
  },
});

/** Parts of replies; written as `sending` before each call, so that a crash leaves a trace. */
export const TelegramSendSchema = defineEntity({
  name: 'TelegramSend',
  tableName: 'telegram_sends',
  schema: 'agents',
  properties: {
    receipt: () => p.manyToOne(WebhookReceiptSchema).primary().ref(),
    part: p.integer().primary(),
    status: p.text().default('planned'),
    /** The platform refused the HTML: the visible text is sent. */
    plain: p.boolean().default(false),
    /** Sent without topic and without reference to the question. */
    bare: p.boolean().default(false),
    chatId: columns.bigint().nullable(),
    messageId: columns.bigint().nullable(),
    error: p.text().nullable(),
    updatedAt: columns.now(),
  },
});

/** Parts of what operators say in a chat, on their way as those of replies are. */
export const OperatorSendSchema = defineEntity({
  name: 'OperatorSend',
  tableName: 'operator_sends',
  schema: 'agents',
  properties: {
    message: () => p.manyToOne(MessageSchema).primary().ref(),
    part: p.integer().primary(),
    /** Queue of the chat that sends it. */
    chat: () => p.manyToOne(TelegramChatSchema).ref().joinColumn('chat'),
    status: p.text().default('planned'),
    plain: p.boolean().default(false),
    chatId: columns.bigint().nullable(),
    sentMessageId: columns.bigint().nullable(),
    error: p.text().nullable(),
    createdAt: columns.now(),
    updatedAt: columns.now(),
  },
});
