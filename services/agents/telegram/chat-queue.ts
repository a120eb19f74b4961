/** Queues updates and messages of operators for their chats. */
import type { Jobs } from '#libs/infrastructure/jobs';
import type { CallContext } from '#libs/infrastructure/nats';
import type { Tx } from '#libs/infrastructure/orm';
import type { Queryable } from '#libs/infrastructure/sql';
import type { MessagingAgent } from '../agent/index.ts';
import { rekeyThread } from '../chat/index.ts';
import { agents } from '../contract.ts';
import { splitReply } from './rules/split-html.ts';
import { readTelegramThreadKey, telegramThreadKey, type Update } from './rules/update.ts';
import { findChatJob, findCurrentChat, markMigrated, openChat, setChatJob } from './statements/chats.ts';
import { findNextReceipt, type NewReceipt } from './statements/receipts.ts';
import { findNextOperatorSend, planOperatorSends } from './statements/sends.ts';

/** Request that caused the work. */
export type Origin = Pick<CallContext, 'requestId' | 'traceparent'>;

/** Properties of a receipt that are read from the update. */
export interface UpdateFacts extends Pick<NewReceipt, 'updateId' | 'kind' | 'chatId' | 'senderId' | 'outcome'> {
  readonly chat?: number;
  readonly message?: string;
}

export interface Admission {
  readonly agent: MessagingAgent;
  readonly update: Update;
  readonly origin: Origin;
  /** Stores the receipt. */
  readonly store: (facts: UpdateFacts) => Promise<{ id: number; is_new: boolean }>;
  /** Ensures that a job processes the chat and returns the job. The default is `startChat`. */
  readonly start?: (chat: number) => Promise<string | undefined>;
}

/**
 * Routes an update to the queue of its chat or to the echo channel, or drops it. Returns the job that processes the
 * update.
 */
export async function admitUpdate(
  tx: Tx,
  jobs: Jobs<typeof agents>,
  { agent, update, origin, store, start = (chat) => startChat(tx, jobs, chat, origin) }: Admission,
): Promise<string | undefined> {
  const { updateId, field: kind, chatId, senderId, chatNames, content } = update;
  const facts = { updateId, kind, chatId, senderId };
  if (content.kind !== 'other') {
    const { id: chat } = await openChat(tx, { agentId: agent.id, chatId: content.chatId });
    await store({ ...facts, chat, outcome: 'pending' });
    return await start(chat);
  }
  if (agent.echo_channel === null || agent.bot_token === null) {
    await store({ ...facts, outcome: 'ignored', message: 'Not a question, and the agent has no echo channel.' });
    return undefined;
  }
  // Updates from the echo channel and its discussion group are not echoed. This prevents endless echoes between bots
  // that share the channel.
  if (chatNames.includes(agent.echo_channel.toLowerCase())) {
    await store({ ...facts, outcome: 'ignored', message: 'Not a question, and it comes from the echo channel.' });
    return undefined;
  }
  const { id, is_new: isNew } = await store({ ...facts, outcome: 'pending' });
  return isNew ? await jobs.enqueue(tx, agents.jobs.echoUpdate, { receipt_id: id, what: 'raw' }, origin) : undefined;
}

/**
 * Ensures that a job processes waiting updates and operators' messages of a chat. The caller has locked the chat.
 * Returns the job if it is new.
 */
export async function startChat(
  tx: Tx,
  jobs: Jobs<typeof agents>,
  chat: number,
  origin: Origin,
): Promise<string | undefined> {
  if ((await findChatJob(tx, { chat })) !== undefined) return undefined;
  if ((await findNextReceipt(tx, { chat })) === undefined && (await findNextOperatorSend(tx, { chat })) === undefined)
    return undefined;
  const jobId = await jobs.enqueue(tx, agents.jobs.workChat, { chat_id: chat }, origin);
  await setChatJob(tx, { chat, jobId });
  return jobId;
}

/** Returns the key that deduplicates updates of an agent (D32). */
export function updateKey(agentId: number, updateId: number): string {
  return `update:${agentId}:${updateId}`;
}

export interface OutgoingOperatorMessage {
  readonly messageId: number;
  readonly threadKey: string;
  readonly html: string;
}

/** Queues an operator's message in the transaction that records it (H3). */
export async function enqueueOperatorMessage(
  tx: Tx,
  jobs: Jobs<typeof agents>,
  { messageId, threadKey, html }: OutgoingOperatorMessage,
  origin: Origin,
): Promise<void> {
  const target = readTelegramThreadKey(threadKey);
  if (target === undefined) throw new Error('not a Telegram thread');
  const { id: chat } = await openChat(tx, target);
  await planOperatorSends(tx, { messageId, chat, parts: splitReply(html).length });
  await startChat(tx, jobs, chat, origin);
}

/** Returns the current id of a chat. A group that becomes a supergroup gets a new id. */
export async function findCurrentChatId(db: Queryable, agentId: number, chatId: number): Promise<number> {
  return (await findCurrentChat(db, { agentId, chatId }))?.chat_id ?? chatId;
}

/**
 * Moves the thread of group `from` to supergroup `to` (D32). A repeated call has no effect. The caller checks
 * `isMigration`.
 */
export async function migrateChat(tx: Tx, agentId: number, from: number, to: number): Promise<void> {
  await markMigrated(tx, { agentId, from, to });
  await rekeyThread(tx, agentId, telegramThreadKey(from, agentId), telegramThreadKey(to, agentId));
}
