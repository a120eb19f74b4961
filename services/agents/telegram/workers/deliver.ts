/**
 * Sends texts to chats in parts (D32, D33b). Each part is stored as `sending` before its call and with the result after
 * it. A send is repeated only if the message cannot have arrived. Parts that a crash left as `sending` are not sent
 * again automatically.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type JobRun, LeaseLost, RetryLater } from '#libs/infrastructure/jobs';
import type { Database } from '#libs/infrastructure/orm';
import type { Queryable } from '#libs/infrastructure/sql';
import { findMessagingAgent, type MessagingAgent } from '../../agent/index.ts';
import { toVisibleText } from '../../messaging-html.ts';
import type { UpdateOutcome } from '../../receipts/contract.ts';
import { findCurrentChatId, migrateChat } from '../chat-queue.ts';
import type { BotApi, OutgoingMessage, SendResult } from '../bot-api.ts';
import { splitReply } from '../rules/split-html.ts';
import { isMigration, type Question, readUpdate } from '../rules/update.ts';
import { type ClaimedChat, markBlocked } from '../statements/chats.ts';
import { findPrecedingMessage, findReceipt, type Settlement } from '../statements/receipts.ts';
import {
  abandonOperatorSends,
  findNextOperatorSend,
  listSends,
  markOrphanedOperatorSends,
  markOrphans,
  type SendRow,
  type SendStatus,
  updateOperatorSend,
  updateSend,
} from '../statements/sends.ts';
import type { ChatJobRun, ChatWorkerDependencies, WorkItem } from './chat-run.ts';

/** Maximum wait within an attempt. A longer wait ends the attempt, to free the worker. */
const maxWaitSeconds = 2;
/** Maximum calls per part and attempt, including fallbacks and retries after short waits. */
const maxCalls = 10;
/** Calls to Telegram continue while the process stops, since the outcome of an aborted call is unknown. */
const neverAborted = new AbortController().signal;

/** Changes to a stored part. */
interface SendChange {
  readonly status: SendStatus;
  /** Absent = unchanged. */
  readonly chatId?: number | undefined;
  readonly messageId?: number | undefined;
  readonly error?: string | undefined;
  readonly plain?: boolean;
  readonly bare?: boolean;
}

/** A part of a text to send. */
interface ReplyPart {
  readonly html: string;
  /** Sent as plain text because an earlier attempt's HTML was rejected. */
  readonly plain: boolean;
  readonly bare: boolean;
  readonly topicId?: number | undefined;
  readonly replyTo?: number | undefined;
  /** Stores a change. @throws LeaseLost when a later attempt has claimed the chat. */
  readonly write: (change: SendChange) => Promise<void>;
  /** Identifiers for log lines. */
  readonly logFields: Readonly<Record<string, number>>;
}

interface PartDependencies {
  readonly db: Database;
  readonly bot: BotApi;
  readonly run: Pick<JobRun<unknown>, 'signal' | 'logger'>;
  readonly agent: MessagingAgent & { readonly bot_token: string };
  /** Id of the chat when the update was queued. */
  readonly chatId: number;
}

/**
 * Sends a part. Returns false when the chat accepts no further messages. @throws RetryLater when the part cannot be
 * sent yet and no call is in flight
 */
async function deliverPart(deps: PartDependencies, part: ReplyPart): Promise<boolean> {
  return await new PartDelivery(deps, part).deliver();
}

class PartDelivery {
  readonly #deps: PartDependencies;
  readonly #part: ReplyPart;
  #plain: boolean;
  #bare: boolean;

  constructor(deps: PartDependencies, part: ReplyPart) {
    this.#deps = deps;
    this.#part = part;
    this.#plain = part.plain;
    this.#bare = part.bare;
  }

  async deliver(): Promise<boolean> {
    const { db, bot, run, agent, chatId: queuedChatId } = this.#deps;
    for (let call = 0; call < maxCalls; call++) {
      run.signal.throwIfAborted();
      const chatId = await findCurrentChatId(db, agent.id, queuedChatId);
      const message = this.#compose(chatId);
      await this.#part.write({ status: 'sending', chatId });
      const result = await bot.send(agent.bot_token, message, neverAborted);
      const next = await this.#handle(result, chatId, message);
      if (next !== 'again') return next === 'done';
    }
    throw new RetryLater('A part of the reply could not be sent yet.');
  }

  #compose(chatId: number): OutgoingMessage {
    const { html, topicId, replyTo } = this.#part;
    const text = this.#plain ? toVisibleText(html) : html;
    // Topic and reply reference are omitted, since topics and messages have other ids in the supergroup than in its
    // former group.
    if (this.#bare || chatId !== this.#deps.chatId) return { chatId, text, html: !this.#plain };
    return { chatId, text, html: !this.#plain, topicId, replyTo };
  }

  async #handle(result: SendResult, chatId: number, message: OutgoingMessage): Promise<'done' | 'again' | 'stop'> {
    const { db, run, agent } = this.#deps;
    const { write, logFields } = this.#part;
    switch (result.kind) {
      case 'sent':
        await write({ status: 'sent', messageId: result.messageId });
        return 'done';
      case 'unknown':
        await write({ status: 'unknown', error: result.error });
        run.logger.warn(
          { agent: agent.slug, ...logFields, reason: result.error },
          'telegram: outcome of a send is unknown',
        );
        return 'done';
      case 'refused_html':
        if (this.#plain) return await this.#refuse(result.error);
        this.#plain = true;
        await write({ status: 'planned', error: result.error, plain: true });
        return 'again';
      case 'refused':
        // A rejected message with a topic or reply reference is sent without them: the topic or the question may have
        // been deleted.
        if (message.topicId === undefined && message.replyTo === undefined) return await this.#refuse(result.error);
        this.#bare = true;
        await write({ status: 'planned', error: result.error, bare: true });
        return 'again';
      case 'migrated':
        if (!isMigration(chatId, result.chatId))
          return await this.#refuse(`400: ${chatId} cannot become ${result.chatId}`);
        await db.transaction((tx) => migrateChat(tx, agent.id, chatId, result.chatId));
        await write({ status: 'planned' });
        return 'again';
      case 'blocked':
        await write({ status: 'blocked', error: result.error });
        await markBlocked(db, { agentId: agent.id, chatId, reason: result.error });
        return 'stop';
      case 'wait':
        await write({ status: 'planned', error: `429: to be sent again after ${result.seconds} s` });
        if (result.seconds > maxWaitSeconds)
          throw new RetryLater('Rate limited by Telegram.', { delayMs: result.seconds * 1000 });
        await sleep(result.seconds * 1000, undefined, { signal: run.signal });
        return 'again';
      case 'not_sent':
        await write({ status: 'planned', error: result.error });
        throw new RetryLater('The Bot API cannot be reached.');
    }
  }

  async #refuse(error: string): Promise<'done'> {
    await this.#part.write({ status: 'refused', error });
    this.#deps.run.logger.warn(
      { agent: this.#deps.agent.slug, ...this.#part.logFields, reason: error },
      'telegram: send rejected',
    );
    return 'done';
  }
}

/** Sends the planned parts of a reply in order. */
export async function deliverReply(
  deps: ChatWorkerDependencies,
  item: WorkItem,
  question: Question,
): Promise<Settlement> {
  const { db } = deps;
  const receipt = await findReceipt(db, item.receipt);
  if (receipt === undefined || receipt.reply_html === null)
    return { outcome: 'failed', message: 'The reply was erased before it was sent.' };
  await markOrphans(db, { receiptId: receipt.id });
  const parts = splitReply(receipt.reply_html);
  for (const send of await listSends(db, { receiptId: receipt.id })) {
    if (send.status !== 'planned') continue;
    const html = parts[send.part - 1];
    const write = createWriter(deps, item, send.part);
    if (html === undefined || receipt.expired) {
      await write({ status: 'given_up', error: 'Too old to send.' });
      continue;
    }
    const { chatType, messageId, topicId } = question;
    const replyTo = chatType !== 'private' && send.part === 1 ? messageId : undefined;
    const { plain, bare } = send;
    const partDeps = { ...deps, run: item.run, agent: item.agent, chatId: item.chat.chat_id };
    const part = { html, plain, bare, topicId, replyTo, write, logFields: { receiptId: receipt.id } };
    if (!(await deliverPart(partDeps, part))) break;
  }
  return settle(await listSends(db, { receiptId: receipt.id }), receipt.settles_as ?? 'answered', receipt.message);
}

/** Returns a function that stores changes of a part. @throws LeaseLost when a later attempt has claimed the chat. */
function createWriter(
  { db }: ChatWorkerDependencies,
  { chat, receipt }: WorkItem,
  part: number,
): (change: SendChange) => Promise<void> {
  return async ({ status, chatId, messageId, error, plain = false, bare = false }) => {
    const at = { chat: chat.id, fence: chat.fence, receiptId: receipt.id, part };
    if ((await updateSend(db, { ...at, status, chatId, messageId, error, plain, bare })) === undefined)
      throw new LeaseLost();
  };
}

/** Returns the outcome of a reply: the worst result of its parts. */
function settle(sends: readonly SendRow[], settlesAs: UpdateOutcome, message: string | null): Settlement {
  const has = (status: SendRow['status']): boolean => sends.some((send) => send.status === status);
  const echo = settlesAs === 'answered' ? ({ echo: 'mirror' } as const) : {};
  const parts = `of ${sends.length} part${sends.length === 1 ? '' : 's'}`;
  const count = (status: SendRow['status']): number => sends.filter((send) => send.status === status).length;
  if (has('blocked')) return { outcome: 'blocked', message: 'The bot is not allowed to write to the chat.', ...echo };
  if (has('unknown'))
    return { outcome: 'send_unknown', message: `${count('unknown')} ${parts} may not have arrived.`, ...echo };
  if (has('refused'))
    return { outcome: 'send_refused', message: `${count('refused')} ${parts} rejected by Telegram.`, ...echo };
  if (has('given_up'))
    return { outcome: 'expired', message: `${count('given_up')} ${parts} not sent in time.`, ...echo };
  return { outcome: settlesAs, message, ...echo };
}

/**
 * Sends waiting messages of operators. They share the chat's queue with replies, so the order is correct (H3). @throws
 * RetryLater
 */
export async function deliverOperatorMessages(
  { db, bot }: ChatWorkerDependencies,
  run: ChatJobRun,
  chat: ClaimedChat,
): Promise<void> {
  const fenced = { chat: chat.id, fence: chat.fence };
  await markOrphanedOperatorSends(db, { chat: chat.id });
  const agent = await findMessagingAgent(db, { id: chat.agent_id });
  const token = agent?.bot_token ?? null;
  if (agent === undefined || token === null) {
    await abandonOperatorSends(db, { ...fenced, error: 'The agent has no `config.messaging.bot_token`.' });
    return;
  }
  for (
    let next = await findNextOperatorSend(db, fenced);
    next !== undefined;
    next = await findNextOperatorSend(db, fenced)
  ) {
    const { messageId, part, plain, expired } = next;
    const write = async ({
      status,
      chatId,
      messageId: sentMessageId,
      error,
      plain: isPlain = false,
    }: SendChange): Promise<void> => {
      const written = { status, chatId, sentMessageId, error, plain: isPlain };
      if ((await updateOperatorSend(db, { ...fenced, messageId, part, ...written })) === undefined)
        throw new LeaseLost();
    };
    const html = splitReply(next.html)[part - 1];
    if (html === undefined || expired) {
      await write({ status: 'given_up', error: 'Too old to send.' });
      continue;
    }
    const partDeps = { db, bot, run, agent: { ...agent, bot_token: token }, chatId: chat.chat_id };
    const topicId = await findTopic(db, { chat: chat.id, messageId });
    const canContinue = await deliverPart(partDeps, {
      html,
      plain,
      bare: false,
      topicId,
      write,
      logFields: { messageId },
    });
    if (!canContinue)
      await abandonOperatorSends(db, { ...fenced, error: 'The bot is not allowed to write to the chat.' });
  }
}

/** Returns the topic of the last message before the operator's message. */
async function findTopic(db: Queryable, message: { chat: number; messageId: number }): Promise<number | undefined> {
  const last = await findPrecedingMessage(db, message);
  const content = last === undefined ? undefined : readUpdate(last.body)?.content;
  return content?.kind === 'question' ? content.topicId : undefined;
}
