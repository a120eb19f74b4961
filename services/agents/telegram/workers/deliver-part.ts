/**
 * Sends one part of a text to a chat (D33b): written down as `sending` before its call and as what it came to after it. A send is repeated only
 * when nothing can have arrived.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type JobRun, RetryLater } from '#libs/jobs';
import type { Database } from '#libs/orm';
import type { MessagingAgent } from '../../agent/index.ts';
import type { BotApi, OutgoingMessage, SendResult } from '../../bot/index.ts';
import { toVisibleText } from '../../messaging-html.ts';
import { findCurrentChatId, migrateChat } from '../chats.ts';
import { isMigration } from '../rules/update.ts';
import { markBlocked } from '../statements/chats.ts';
import type { SendStatus } from '../statements/sends.ts';

/** A longer wait ends the attempt: the job is tried again, and no worker is occupied meanwhile. */
const maxWaitSeconds = 2;
/** Calls for one part in one attempt: a fallback for each cause, and some waiting. */
const maxCalls = 10;
/** A call is not broken off when the process stops: that would leave its outcome unknown. */
const neverAborted = new AbortController().signal;

/** What is written of a part. */
export interface SendChange {
  readonly status: SendStatus;
  /** Absent: as before. */
  readonly chatId?: number | undefined;
  readonly messageId?: number | undefined;
  readonly error?: string | undefined;
  readonly plain?: boolean;
  readonly bare?: boolean;
}

/** One part on its way. */
export interface ReplyPart {
  readonly html: string;
  /** As sends before have left it. */
  readonly plain: boolean;
  readonly bare: boolean;
  /** Where in the chat it belongs. */
  readonly topicId?: number | undefined;
  readonly replyTo?: number | undefined;
  /** @throws LeaseLost when a later attempt has the chat. */
  readonly write: (change: SendChange) => Promise<void>;
  /** What log lines name it by. */
  readonly logFields: Readonly<Record<string, number>>;
}

export interface PartDependencies {
  readonly db: Database;
  readonly bot: BotApi;
  readonly run: Pick<JobRun<unknown>, 'signal' | 'logger'>;
  readonly agent: MessagingAgent & { readonly bot_token: string };
  /** Number of the chat, as its queue has it. */
  readonly chatId: number;
}

/** False when the chat takes nothing more. @throws RetryLater while it cannot be sent, with nothing of it under way */
export async function deliverPart(deps: PartDependencies, part: ReplyPart): Promise<boolean> {
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
    const { db, bot, run, agent, chatId: queueOf } = this.#deps;
    for (let call = 0; call < maxCalls; call++) {
      run.signal.throwIfAborted();
      const chatId = await findCurrentChatId(db, agent.id, queueOf);
      const message = this.#compose(chatId);
      await this.#part.write({ status: 'sending', chatId });
      const result = await bot.send(agent.bot_token, message, neverAborted);
      const next = await this.#handle(result, chatId, message);
      if (next !== 'again') return next === 'done';
    }
    throw new RetryLater('The part of the reply could not be sent yet');
  }

  #compose(chatId: number): OutgoingMessage {
    const { html, topicId, replyTo } = this.#part;
    const text = this.#plain ? toVisibleText(html) : html;
    // In the supergroup that a group became, its topics and messages have other numbers.
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
        run.logger.warn({ agent: agent.slug, ...logFields, reason: result.error }, 'outcome of a send is unknown');
        return 'done';
      case 'refused_html':
        if (this.#plain) return await this.#refuse(result.error);
        this.#plain = true;
        await write({ status: 'planned', error: result.error, plain: true });
        return 'again';
      case 'refused':
        // The topic or the question may be gone; a message to the chat itself is better than none.
        if (message.topicId === undefined && message.replyTo === undefined) return await this.#refuse(result.error);
        this.#bare = true;
        await write({ status: 'planned', error: result.error, bare: true });
        return 'again';
      case 'migrated':
        if (!isMigration(chatId, result.chatId)) return await this.#refuse(`400: ${chatId} cannot become ${result.chatId}`);
        await db.transaction((tx) => migrateChat(tx, agent.id, chatId, result.chatId));
        await write({ status: 'planned' });
        return 'again';
      case 'blocked':
        await write({ status: 'blocked', error: result.error });
        await markBlocked(db, { agentId: agent.id, chatId, reason: result.error });
        return 'stop';
      case 'wait':
        await write({ status: 'planned', error: `429: to be sent again after ${result.seconds} s` });
        if (result.seconds > maxWaitSeconds) throw new RetryLater('The platform asked to wait', { delayMs: result.seconds * 1000 });
        await sleep(result.seconds * 1000, undefined, { signal: run.signal });
        return 'again';
      case 'not_sent':
        await write({ status: 'planned', error: result.error });
        throw new RetryLater('The Bot API cannot be reached');
    }
  }

  async #refuse(error: string): Promise<'done'> {
    await this.#part.write({ status: 'refused', error });
    this.#deps.run.logger.warn({ agent: this.#deps.agent.slug, ...this.#part.logFields, reason: error }, 'send was refused');
    return 'done';
  }
}
