/** Asks the chat runtime what to reply in a chat; the reply is decided in the transaction that records the turn (D32, D33a). */
import { LeaseLost, RetryLater } from '#libs/jobs';
import type { Tx } from '#libs/orm';
import { namesBot, readAddress } from '../domain/telegram-address.ts';
import { splitReply } from '../domain/split-html.ts';
import type { Question } from '../domain/telegram-update.ts';
import type { UpdateOutcome } from '../messaging-contract.ts';
import { telegramSender } from '../repositories/forget.ts';
import { planReply, type Settlement } from '../repositories/receipts.ts';
import { findCurrentChatId, lockChat, telegramThreadKey, unmarkBlocked } from '../repositories/telegram-chats.ts';
import type { ChatRuntime } from '../runtime/chat.ts';
import { TurnFailure } from '../runtime/turn-failure.ts';
import { whileTyping } from '../telegram/typing.ts';
import type { ChatWorkerDependencies, Errand } from './work-chat.ts';

/** Said in the chat when the model gives no answer: nothing was kept, so the message has to be sent again. */
export const noAnswerNotice = 'Sorry, I cannot answer right now. Your message was not kept; please send it again in a few minutes.';
const noAnswer: Excuse = { message: 'The model gave no answer; the chat was told.', html: noAnswerNotice };

/** Why there is no answer: for operators, and for the chat. */
interface Excuse {
  readonly message: string;
  readonly html: string;
}

/** D71: said when the agent has used its tokens of the day, which ends in `seconds`. */
function excuseUntilTomorrow(seconds: number): Excuse {
  const hours = Math.ceil(seconds / 3_600);
  const html = `Sorry, I have answered as much as I may today. Your message was not kept; please send it again in ${hours} hour${hours === 1 ? '' : 's'}.`;
  return { message: "The agent's tokens of the day are used up; the chat was told.", html };
}

/** Time for the turn, the wait for an earlier one of the same thread included; leaves time to send the reply in the same attempt. */
const turnMs = 150_000;

/** Undefined when a reply is to be sent; otherwise how the update ends without one. */
export async function answerQuestion(deps: ChatWorkerDependencies, errand: Errand, question: Question): Promise<Settlement | undefined> {
  const { db, bot, runtime } = deps;
  const { agent, chat } = errand;
  await unmarkBlocked(db, agent.id, chat.chat_id);
  const addressed = readAddress(question, await identify(deps, errand, question));
  if (addressed.kind === 'other_bot') {
    const echo = agent.echo_channel === null ? undefined : 'raw';
    return { outcome: 'ignored', message: 'A command for another bot.', echo };
  }
  const chatId = await findCurrentChatId(db, agent.id, chat.chat_id);
  const topicId = chatId === chat.chat_id ? question.topicId : undefined;
  const place = { token: agent.bot_token, chatId, topicId };
  const excuse =
    runtime === undefined
      ? noAnswer
      : await whileTyping(bot, place, () => takeTurn(runtime, deps, errand, question, addressed.text, chatId));
  if (excuse !== undefined) await db.transaction((tx) => plan(tx, errand, { settlesAs: 'not_answered', ...excuse }));
  return undefined;
}

async function identify(
  { bot }: ChatWorkerDependencies,
  { agent }: Errand,
  question: Question,
): Promise<{ id: number | undefined; username: string | undefined }> {
  const identity = namesBot(question) ? await bot.identify(agent.bot_token) : undefined;
  const id = /^[0-9]{1,15}:/.test(agent.bot_token) ? Number.parseInt(agent.bot_token, 10) : identity?.id;
  return { id, username: identity?.username };
}

/** Records the turn and its reply, or nothing: then it tells why. */
async function takeTurn(
  runtime: ChatRuntime,
  { db }: ChatWorkerDependencies,
  errand: Errand,
  question: Question,
  body: string,
  chatId: number,
): Promise<Excuse | undefined> {
  const { run, agent, receipt } = errand;
  const outOfTime = AbortSignal.timeout(turnMs);
  try {
    const turn = await runtime.takeTurn({
      agent,
      thread: { key: telegramThreadKey(chatId, agent.id), channel: 'telegram' },
      opening: 'any',
      body,
      sender: question.senderId === undefined ? undefined : telegramSender(question.senderId),
      idempotencyKey: turnKeyOf(receipt.update_id),
      deadlineMs: Date.now() + turnMs + 1_000,
      signal: AbortSignal.any([run.signal, outOfTime]),
      logger: run.logger,
      inTransaction: (tx, { agentHtml }) => plan(tx, errand, { settlesAs: 'answered', message: null, html: agentHtml }),
    });
    if (turn.repeated) await db.transaction((tx) => plan(tx, errand, { settlesAs: 'answered', message: null, html: turn.agentHtml }));
    return undefined;
  } catch (error) {
    if (run.signal.aborted) throw run.signal.reason;
    if (!(error instanceof TurnFailure)) throw error;
    // A lease of the turn that ran out breaks the model off as well: that is no failure of the model, and the chat need not hear of it.
    if (error.kind === 'lost' || (error.kind === 'out_of_time' && !outOfTime.aborted))
      throw new RetryLater(error.message, { delayMs: 200 });
    return error.kind === 'over_budget' ? excuseUntilTomorrow(error.retryAfter) : noAnswer;
  }
}

/** Key of the turn that answers an update. */
export function turnKeyOf(updateId: number | null): string {
  return `telegram:${updateId}`;
}

async function plan(
  tx: Tx,
  { chat, receipt }: Errand,
  reply: { settlesAs: UpdateOutcome; message: string | null; html: string },
): Promise<void> {
  if (!(await lockChat(tx, chat))) throw new LeaseLost();
  const { settlesAs, message, html } = reply;
  await planReply(tx, receipt.id, { settlesAs, message, replyHtml: html, parts: splitReply(html).length });
}
