/**
 * Sends the parts of a reply in order (D32, D33b). Each is written down as `sending` before its call and as what it came to
 * after it; what is still `sending` when an attempt begins may have arrived, and is not sent again by itself.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { LeaseLost, RetryLater } from '#libs/jobs';
import type { OutgoingMessage, SendResult } from '../../bot/index.ts';
import { toVisibleText } from '../../messaging-html.ts';
import type { UpdateOutcome } from '../../receipts/contract.ts';
import { findCurrentChatId, migrateChat } from '../chats.ts';
import { splitReply } from '../rules/split-html.ts';
import { isMigration, type Question } from '../rules/update.ts';
import { markBlocked } from '../statements/chats.ts';
import { findReceipt, type Settlement } from '../statements/receipts.ts';
import { listSends, markOrphans, type SendRow, type SendStatus, writeSend } from '../statements/sends.ts';
import type { ChatWorkerDependencies, WorkItem } from '../work-item.ts';

/** A longer wait ends the attempt: the job is tried again, and no worker is occupied meanwhile. */
const maxWaitSeconds = 2;
/** Calls for one part in one attempt: a fallback for each cause, and some waiting. */
const maxCalls = 10;
/** A call is not broken off when the process stops: that would leave its outcome unknown. */
const unabortable = new AbortController().signal;

export async function deliverReply(deps: ChatWorkerDependencies, item: WorkItem, question: Question): Promise<Settlement> {
  const { db } = deps;
  const receipt = await findReceipt(db, item.receipt);
  if (receipt === undefined || receipt.reply_html === null)
    return { outcome: 'failed', message: 'The reply was erased before it was sent.' };
  await markOrphans(db, { receiptId: receipt.id });
  const parts = splitReply(receipt.reply_html);
  for (const send of await listSends(db, { receiptId: receipt.id })) {
    if (send.status !== 'planned') continue;
    const html = parts[send.part - 1];
    const delivery = new PartDelivery(deps, item, question, send);
    if (html === undefined || receipt.expired) await delivery.write({ status: 'given_up', error: 'Too old to be sent.' });
    else if (!(await delivery.deliver(html))) break;
  }
  return settle(await listSends(db, { receiptId: receipt.id }), receipt.settles_as ?? 'answered', receipt.message);
}

/** What is written of a part. */
interface SendChange {
  readonly status: SendStatus;
  /** Absent: as before. */
  readonly chatId?: number | undefined;
  readonly messageId?: number | undefined;
  readonly error?: string | undefined;
  readonly plain?: true;
  readonly bare?: true;
}

/** One part on its way. */
class PartDelivery {
  readonly #deps: ChatWorkerDependencies;
  readonly #item: WorkItem;
  readonly #question: Question;
  readonly #part: number;
  #plain: boolean;
  #bare: boolean;

  constructor(deps: ChatWorkerDependencies, item: WorkItem, question: Question, send: SendRow) {
    this.#deps = deps;
    this.#item = item;
    this.#question = question;
    this.#part = send.part;
    this.#plain = send.plain;
    this.#bare = send.bare;
  }

  /** @throws LeaseLost when a later attempt has the chat. */
  async write(change: SendChange): Promise<void> {
    const { chat, receipt } = this.#item;
    const at = { chat: chat.id, fence: chat.fence, receiptId: receipt.id, part: this.#part };
    const { status, chatId, messageId, error, plain = false, bare = false } = change;
    const written = { status, chatId, messageId, error, plain, bare };
    if ((await writeSend(this.#deps.db, { ...at, ...written })) === undefined) throw new LeaseLost();
  }

  /** False when the chat takes nothing more. @throws RetryLater while it cannot be sent, with nothing of it under way */
  async deliver(html: string): Promise<boolean> {
    const { agent, chat, run } = this.#item;
    for (let call = 0; call < maxCalls; call++) {
      run.signal.throwIfAborted();
      const chatId = await findCurrentChatId(this.#deps.db, agent.id, chat.chat_id);
      const message = this.#compose(html, chatId);
      await this.write({ status: 'sending', chatId });
      const result = await this.#deps.bot.send(agent.bot_token, message, unabortable);
      const next = await this.#take(result, chatId, message);
      if (next !== 'again') return next === 'done';
    }
    throw new RetryLater('The part of the reply could not be sent yet');
  }

  #compose(html: string, chatId: number): OutgoingMessage {
    const { chat } = this.#item;
    const { chatType, messageId, topicId } = this.#question;
    const text = this.#plain ? toVisibleText(html) : html;
    // In the supergroup that a group became, its topics and messages have other numbers.
    if (this.#bare || chatId !== chat.chat_id) return { chatId, text, html: !this.#plain };
    const replyTo = chatType !== 'private' && this.#part === 1 ? messageId : undefined;
    return { chatId, text, html: !this.#plain, topicId, replyTo };
  }

  async #take(result: SendResult, chatId: number, message: OutgoingMessage): Promise<'done' | 'again' | 'stop'> {
    const { agent, run } = this.#item;
    switch (result.kind) {
      case 'sent':
        await this.write({ status: 'sent', messageId: result.messageId });
        return 'done';
      case 'unknown':
        await this.write({ status: 'unknown', error: result.error });
        run.logger.warn({ agent: agent.slug, receiptId: this.#item.receipt.id, reason: result.error }, 'outcome of a send is unknown');
        return 'done';
      case 'refused_html':
        if (this.#plain) return await this.#refuse(result.error);
        this.#plain = true;
        await this.write({ status: 'planned', error: result.error, plain: true });
        return 'again';
      case 'refused':
        // The topic or the question may be gone; a message to the chat itself is better than none.
        if (message.topicId === undefined && message.replyTo === undefined) return await this.#refuse(result.error);
        this.#bare = true;
        await this.write({ status: 'planned', error: result.error, bare: true });
        return 'again';
      case 'migrated':
        if (!isMigration(chatId, result.chatId)) return await this.#refuse(`400: ${chatId} cannot become ${result.chatId}`);
        await this.#deps.db.transaction((tx) => migrateChat(tx, agent.id, chatId, result.chatId));
        await this.write({ status: 'planned' });
        return 'again';
      case 'blocked':
        await this.write({ status: 'blocked', error: result.error });
        await markBlocked(this.#deps.db, { agentId: agent.id, chatId, reason: result.error });
        return 'stop';
      case 'wait':
        await this.write({ status: 'planned', error: `429: to be sent again after ${result.seconds} s` });
        if (result.seconds > maxWaitSeconds) throw new RetryLater('The platform asked to wait', { delayMs: result.seconds * 1000 });
        await sleep(result.seconds * 1000, undefined, { signal: run.signal });
        return 'again';
      case 'not_sent':
        await this.write({ status: 'planned', error: result.error });
        throw new RetryLater('The Bot API cannot be reached');
    }
  }

  async #refuse(error: string): Promise<'done'> {
    await this.write({ status: 'refused', error });
    this.#item.run.logger.warn({ agent: this.#item.agent.slug, receiptId: this.#item.receipt.id, reason: error }, 'send was refused');
    return 'done';
  }
}

/** What the sends amount to: the worst one decides. */
function settle(sends: readonly SendRow[], settlesAs: UpdateOutcome, message: string | null): Settlement {
  const has = (status: SendRow['status']): boolean => sends.some((send) => send.status === status);
  const echo = settlesAs === 'answered' ? ({ echo: 'mirror' } as const) : {};
  const parts = `of ${sends.length} part${sends.length === 1 ? '' : 's'}`;
  const count = (status: SendRow['status']): number => sends.filter((send) => send.status === status).length;
  if (has('blocked')) return { outcome: 'blocked', message: 'The bot may not write to the chat.', ...echo };
  if (has('unknown')) return { outcome: 'send_unknown', message: `${count('unknown')} ${parts} may or may not have arrived.`, ...echo };
  if (has('refused')) return { outcome: 'send_refused', message: `${count('refused')} ${parts} was refused.`, ...echo };
  if (has('given_up')) return { outcome: 'expired', message: `${count('given_up')} ${parts} was not sent in time.`, ...echo };
  return { outcome: settlesAs, message, ...echo };
}
