/** Tables of the schema `agents`, except those of the job library. */
import { columns, defineEntity, p } from '#libs/infrastructure/orm/entities';

const AgentSchema = defineEntity({
  name: 'Agent',
  tableName: 'agents',
  schema: 'agents',
  properties: {
    id: p.integer().primary().autoincrement(),
    slug: p.text(),
    name: p.text(),
    prompt: columns.emptyText(),
    infos: columns.jsonObject(),
    /** Messaging secrets and settings; never returned by the API. */
    config: columns.jsonObject(),
    createdAt: columns.now(),
    updatedAt: columns.now(),
    /** A deleted agent: its threads remain, its slug is free for another one. */
    deletedAt: columns.instant().nullable(),
  },
});

/** Model usage by agent, day (UTC) and purpose. */
const ModelUsageSchema = defineEntity({
  name: 'ModelUsage',
  tableName: 'model_usage',
  schema: 'agents',
  properties: {
    agent: () => p.manyToOne(AgentSchema).primary().ref(),
    day: p.string().columnType('date').primary(),
    purpose: p.text().primary(),
    calls: columns.bigint().default(0),
    failedCalls: columns.bigint().default(0),
    /** Calls whose tokens the model did not report. */
    callsWithoutUsage: columns.bigint().default(0),
    promptTokens: columns.bigint().default(0),
    completionTokens: columns.bigint().default(0),
    durationMs: columns.bigint().default(0),
  },
});

/**
 * Tokens used per agent on the latest day (UTC). A call adds an estimate before it runs and the difference afterwards.
 */
const TokenBudgetSchema = defineEntity({
  name: 'TokenBudget',
  tableName: 'token_budgets',
  schema: 'agents',
  properties: {
    agent: () => p.manyToOne(AgentSchema).primary().ref(),
    day: p.string().columnType('date'),
    tokens: columns.bigint(),
  },
});

/** Number of consecutive complete replies without unopened thoughts, by model and address. */
const ThinkingHabitSchema = defineEntity({
  name: 'ThinkingHabit',
  tableName: 'thinking_habits',
  schema: 'agents',
  properties: {
    model: p.text().primary(),
    plainAnswers: p.integer(),
  },
});

/** Times of admitted chat messages in the last minute. `infinity` marks a rejected message. The table is unlogged. */
const ChatHitSchema = defineEntity({
  name: 'ChatHit',
  tableName: 'chat_hits',
  schema: 'agents',
  properties: {
    key: p.text().primary(),
    hitAt: p.array().$type<string[]>().columnType('timestamptz[]'),
    updatedAt: columns.instant(),
  },
});

/** One thread per visitor and agent, or per chat and agent. */
const ThreadSchema = defineEntity({
  name: 'Thread',
  tableName: 'threads',
  schema: 'agents',
  properties: {
    id: columns.bigint().primary().autoincrement(),
    agent: () => p.manyToOne(AgentSchema).ref(),
    threadKey: p.text(),
    channel: p.text(),
    /** Unguessable secret that grants access to the thread (D33a). */
    visitorId: p.text().nullable(),
    turnCount: p.integer().default(0),
    lastTicket: columns.bigint().default(0),
    createdAt: columns.now(),
    updatedAt: columns.now(),
  },
});

/**
 * A turn is a `chat_visitor` message and the `chat_agent` message that answers it. During a takeover (H1) each
 * `chat_visitor` and `chat_operator` message is a turn.
 */
const MessageSchema = defineEntity({
  name: 'Message',
  tableName: 'messages',
  schema: 'agents',
  properties: {
    id: columns.bigint().primary().autoincrement(),
    thread: () => p.manyToOne(ThreadSchema).ref(),
    turn: p.integer(),
    noteType: p.text(),
    body: p.text(),
    html: p.text(),
    createdAt: columns.instant(),
    /** Idempotency key of the turn. */
    turnKey: p.text().nullable(),
    /** Author in threads with several people: `telegram:user:<id>`. */
    sender: p.text().nullable(),
    /** Author of a `chat_operator` message; null = admin CLI. */
    accountId: p.integer().nullable(),
  },
});

/** Periods in which an operator answers a thread instead of the agent. At most one per thread is open. */
const ThreadTakeoverSchema = defineEntity({
  name: 'ThreadTakeover',
  tableName: 'thread_takeovers',
  schema: 'agents',
  properties: {
    id: columns.bigint().primary().autoincrement(),
    thread: () => p.manyToOne(ThreadSchema).ref(),
    /** Operator of the takeover; null = admin CLI. */
    accountId: p.integer().nullable(),
    takenAt: columns.now(),
    endedAt: columns.instant().nullable(),
  },
});

/** Queue of turns per thread. The turn with the lowest ticket whose lease is valid runs. */
const TurnTicketSchema = defineEntity({
  name: 'TurnTicket',
  tableName: 'turn_tickets',
  schema: 'agents',
  properties: {
    thread: () => p.manyToOne(ThreadSchema).primary().ref(),
    ticket: columns.bigint().primary(),
    leaseUntil: columns.instant(),
  },
});

/**
 * Every change increments `version`, and jobs with an older version write nothing. `upToTurn` is the last turn
 * included.
 */
const ThreadMemorySchema = defineEntity({
  name: 'ThreadMemory',
  tableName: 'thread_memories',
  schema: 'agents',
  properties: {
    thread: () => p.manyToOne(ThreadSchema).primary().ref(),
    summary: columns.emptyText(),
    upToTurn: p.integer().default(0),
    version: p.integer().default(1),
    updatedAt: columns.now(),
  },
});

/**
 * Facts and knowledge sentences. `thread` is the source of the sentence, also for knowledge of the agent: deleting the
 * thread deletes the sentence.
 */
const MemoryFactSchema = defineEntity({
  name: 'MemoryFact',
  tableName: 'memory_facts',
  schema: 'agents',
  properties: {
    id: columns.bigint().primary().autoincrement(),
    agent: () => p.manyToOne(AgentSchema).ref(),
    thread: () => p.manyToOne(ThreadSchema).ref(),
    kind: p.text(),
    body: p.text(),
    upToTurn: p.integer(),
    createdAt: columns.now(),
    /** Set for knowledge only; null = not approved. */
    approvedAt: columns.instant().nullable(),
  },
});

const AgentMemorySchema = defineEntity({
  name: 'AgentMemory',
  tableName: 'agent_memories',
  schema: 'agents',
  properties: {
    agent: () => p.manyToOne(AgentSchema).primary().ref(),
    summary: columns.emptyText(),
    version: p.integer().default(1),
    updatedAt: columns.now(),
  },
});

const TelegramChatSchema = defineEntity({
  name: 'TelegramChat',
  tableName: 'telegram_chats',
  schema: 'agents',
  properties: {
    id: columns.bigint().primary().autoincrement(),
    agent: () => p.manyToOne(AgentSchema).ref(),
    chatId: columns.bigint(),
    /** Chat id of the supergroup that replaced the group. */
    migratedTo: columns.bigint().nullable(),
    /** Time since which the bot cannot write to the chat. The next message from the chat clears it. */
    blockedAt: columns.instant().nullable(),
    blockedReason: p.text().nullable(),
    /** The one job that processes updates of the chat; null = no update is waiting. */
    jobId: p.uuid().nullable(),
    /** Incremented by every attempt, so that earlier attempts can no longer write. */
    fence: columns.bigint().default(0),
    createdAt: columns.now(),
  },
});

const WebhookReceiptSchema = defineEntity({
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
    /** Position of the update in the webhook stream, i.e. the order in which updates were accepted. */
    streamSequence: columns.bigint(),
    agentSlug: p.text(),
    agent: () => p.manyToOne(AgentSchema).nullable().ref(),
    updateId: columns.bigint().nullable(),
    kind: p.text().nullable(),
    chatId: columns.bigint().nullable(),
    senderId: columns.bigint().nullable(),
    /** Chat whose queue processes the update; null = no order required. */
    chat: () => p.manyToOne(TelegramChatSchema).nullable().ref().joinColumn('chat'),
    /** Selected headers, without the secret. */
    headers: columns.jsonObject(),
    body: p.blob().nullable(),
    outcome: p.text(),
    message: p.text().nullable(),
    /** Outcome of the update once every part of the reply is sent. */
    settlesAs: p.text().nullable(),
    replyHtml: p.text().nullable(),
    echo: p.text().nullable(),
    processedAt: columns.instant().nullable(),
    /** SHA-256 of the received body in hex; null when the body was not read. */
    bodyDigest: p.text().nullable(),
    bodySize: p.integer().nullable(),
    /** Set for an update of an unknown agent: `<id>:<HMAC of the received secret under that id>`. */
    secretDigest: p.text().nullable(),
  },
});

/** Parts of replies. Each part is stored as `sending` before its call, which makes crashes detectable. */
const TelegramSendSchema = defineEntity({
  name: 'TelegramSend',
  tableName: 'telegram_sends',
  schema: 'agents',
  properties: {
    receipt: () => p.manyToOne(WebhookReceiptSchema).primary().ref(),
    part: p.integer().primary(),
    status: p.text().default('planned'),
    /** Telegram rejected the HTML: send the visible text instead. */
    plain: p.boolean().default(false),
    /** Send the part without topic and reply reference. */
    bare: p.boolean().default(false),
    chatId: columns.bigint().nullable(),
    messageId: columns.bigint().nullable(),
    error: p.text().nullable(),
    updatedAt: columns.now(),
  },
});

/** Parts of messages that operators write in a chat. They are sent like replies. */
const OperatorSendSchema = defineEntity({
  name: 'OperatorSend',
  tableName: 'operator_sends',
  schema: 'agents',
  properties: {
    message: () => p.manyToOne(MessageSchema).primary().ref(),
    part: p.integer().primary(),
    /** Chat whose queue sends the message. */
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

export const entities = [
  AgentMemorySchema,
  AgentSchema,
  ChatHitSchema,
  MemoryFactSchema,
  MessageSchema,
  ModelUsageSchema,
  OperatorSendSchema,
  TelegramChatSchema,
  TelegramSendSchema,
  ThinkingHabitSchema,
  ThreadMemorySchema,
  ThreadSchema,
  ThreadTakeoverSchema,
  TokenBudgetSchema,
  TurnTicketSchema,
  WebhookReceiptSchema,
];
