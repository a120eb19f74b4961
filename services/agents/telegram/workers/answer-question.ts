/** Asks the chat runtime what to reply in a chat; the reply is decided in the transaction that records the turn (D32, D33a). */
import { LeaseLost, RetryLater } from '#libs/jobs';
import type { Tx } from '#libs/orm';
import { type ChatRuntime, findTakeoverByKey, TurnFailure } from '../../chat/index.ts';
import type { UpdateOutcome } from '../../receipts/contract.ts';
import { findCurrentChatId } from '../chats.ts';
import { needsBotName, readAddress } from '../rules/address.ts';
import { telegramSender, telegramThreadKey } from '../rules/keys.ts';
import { splitReply } from '../rules/split-html.ts';
import type { Question } from '../rules/update.ts';
import { lockChat, unmarkBlocked } from '../statements/chats.ts';
import { planReply, type Settlement } from '../statements/receipts.ts';
import { runWhileTyping } from '../typing.ts';
import type { ChatWorkerDependencies, WorkItem } from '../work-item.ts';

/** Said in the chat when the model gives no answer: nothing was kept, so the message has to be sent again. */
export const noAnswerNotice = 'Sorry, I cannot answer right now. Your message was not kept; please send it again in a few minutes.';
const noReply: Notice = { message: 'The model gave no answer; the chat was told.', html: noAnswerNotice };

/** The message is recorded, and a person will answer it (H1). */
const takenOver = Symbol('left to a person');

/** Why there is no answer: for operators, and for the chat. */
interface Notice {
  readonly message: string;
  readonly html: string;
}

/** D71: said when the agent has used its tokens of the day, which ends in `seconds`. */
function budgetNotice(seconds: number): Notice {
  const hours = Math.ceil(seconds / 3_600);
  const html = `Sorry, I have answered as much as I may today. Your message was not kept; please send it again in ${hours} hour${hours === 1 ? '' : 's'}.`;
  return { message: "The agent's tokens of the day are used up; the chat was told.", html };
}

/** Time for the turn, the wait for an earlier one of the same thread included; leaves time to send the reply in the same attempt. */
const turnMs = 150_000;

/** Undefined when a reply is to be sent; otherwise how the update ends without one. */
export async function answerQuestion(deps: ChatWorkerDependencies, item: WorkItem, question: Question): Promise<Settlement | undefined> {
  const { db, bot, runtime } = deps;
  const { agent, chat } = item;
  await unmarkBlocked(db, { agentId: agent.id, chatId: chat.chat_id });
  const addressed = readAddress(question, await identify(deps, item, question));
  if (addressed.kind === 'other_bot') {
    const echo = agent.echo_channel === null ? undefined : 'raw';
    return { outcome: 'ignored', message: 'A command for another bot.', echo };
  }
  const chatId = await findCurrentChatId(db, agent.id, chat.chat_id);
  const topicId = chatId === chat.chat_id ? question.topicId : undefined;
  const place = { token: agent.bot_token, chatId, topicId };
  const answer = async (): Promise<Notice | typeof takenOver | undefined> =>
    runtime === undefined ? noReply : await runTurn(runtime, deps, item, question, addressed.text, chatId);
  const { taken } = await findTakeoverByKey(db, { agentId: agent.id, threadKey: telegramThreadKey(chatId, agent.id) });
  const notice = taken || runtime === undefined ? await answer() : await runWhileTyping(bot, place, answer);
  if (notice === takenOver) return { outcome: 'left_to_person', message: 'A person has the thread and will answer.' };
  if (notice !== undefined) await db.transaction((tx) => storePlan(tx, item, { settlesAs: 'not_answered', ...notice }));
  return undefined;
}

async function identify(
  { bot }: ChatWorkerDependencies,
  { agent }: WorkItem,
  question: Question,
): Promise<{ id: number | undefined; username: string | undefined }> {
  const identity = needsBotName(question) ? await bot.identify(agent.bot_token) : undefined;
  const id = /^[0-9]{1,15}:/.test(agent.bot_token) ? Number.parseInt(agent.bot_token, 10) : identity?.id;
  return { id, username: identity?.username };
}

/** Records the turn and its reply, or the question alone. Otherwise nothing is recorded, and it returns what to say instead. */
async function runTurn(
  runtime: ChatRuntime,
  { db }: ChatWorkerDependencies,
  item: WorkItem,
  question: Question,
  body: string,
  chatId: number,
): Promise<Notice | typeof takenOver | undefined> {
  const { run, agent, receipt } = item;
  const outOfTime = AbortSignal.timeout(turnMs);
  try {
    const turn = await runtime.runTurn({
      agent,
      thread: { key: telegramThreadKey(chatId, agent.id), channel: 'telegram' },
      opening: 'any',
      body,
      sender: question.senderId === undefined ? undefined : telegramSender(question.senderId),
      idempotencyKey: turnKeyOf(receipt.update_id),
      deadlineMs: Date.now() + turnMs + 1_000,
      signal: AbortSignal.any([run.signal, outOfTime]),
      logger: run.logger,
      inTransaction: async (tx, { agentHtml: html }) => {
        if (html !== null) await storePlan(tx, item, { settlesAs: 'answered', message: null, html });
      },
    });
    const { agentHtml: html } = turn;
    if (html === null) return takenOver;
    if (turn.repeated) await db.transaction((tx) => storePlan(tx, item, { settlesAs: 'answered', message: null, html }));
    return undefined;
  } catch (error) {
    if (run.signal.aborted) throw run.signal.reason;
    if (!(error instanceof TurnFailure)) throw error;
    // A lease of the turn that ran out breaks the model off as well: that is no failure of the model, and the chat need not hear of it.
    if (error.kind === 'lost' || (error.kind === 'out_of_time' && !outOfTime.aborted))
      throw new RetryLater(error.message, { delayMs: 200 });
    return error.kind === 'over_budget' ? budgetNotice(error.retryAfter) : noReply;
  }
}

/** Key of the turn that answers an update. */
export function turnKeyOf(updateId: number | null): string {
  return `telegram:${updateId}`;
}

async function storePlan(
  tx: Tx,
  { chat, receipt }: WorkItem,
  reply: { settlesAs: UpdateOutcome; message: string | null; html: string },
): Promise<void> {
  if ((await lockChat(tx, chat)) === undefined) throw new LeaseLost();
  const { settlesAs, message, html } = reply;
  await planReply(tx, { id: receipt.id, settlesAs, message, replyHtml: html, parts: splitReply(html).length });
}
