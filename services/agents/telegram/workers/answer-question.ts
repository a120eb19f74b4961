/** Answers a question in a chat. The reply is planned in the transaction that records the turn (D32, D33a). */
import { setTimeout as sleep } from 'node:timers/promises';
import { LeaseLost, RetryLater } from '#libs/infrastructure/jobs';
import type { Tx } from '#libs/infrastructure/orm';
import { type ChatRuntime, findTakeoverByKey, TurnFailure } from '../../chat/index.ts';
import type { UpdateOutcome } from '../../receipts/contract.ts';
import { findCurrentChatId } from '../chat-queue.ts';
import type { BotApi } from '../bot-api.ts';
import { splitReply } from '../rules/split-html.ts';
import { needsBotName, type Question, readAddress, telegramSender, telegramThreadKey } from '../rules/update.ts';
import { lockChat, unmarkBlocked } from '../statements/chats.ts';
import { planReply, type Settlement } from '../statements/receipts.ts';
import type { ChatWorkerDependencies, WorkItem } from './chat-run.ts';

/** Sent when the model fails. The question was not recorded, so the visitor must send it again. */
export const noAnswerNotice =
  'Sorry, I cannot answer right now. Your message was not kept; please send it again in a few minutes.';
const noReply: Notice = { message: 'The model returned no reply. The chat was notified.', html: noAnswerNotice };

/** The question is recorded, and an operator answers it (H1). */
const takenOver = Symbol('left to a person');

/** Why a question gets no reply: one text for operators, one for the chat. */
interface Notice {
  readonly message: string;
  readonly html: string;
}

/** Notice that the daily token budget is used up (D71). @param seconds until the end of the day */
function budgetNotice(seconds: number): Notice {
  const hours = Math.ceil(seconds / 3_600);
  const html = `Sorry, I have answered as much as I may today. Your message was not kept; please send it again in ${hours} hour${hours === 1 ? '' : 's'}.`;
  return { message: "The agent's daily token budget is used up. The chat was notified.", html };
}

/**
 * Maximum duration of a turn, including the wait for an earlier turn. The same attempt then still has time to send the
 * reply.
 */
const turnMs = 150_000;

/** Answers a question. Returns undefined when a reply was planned; otherwise returns the final outcome. */
export async function answerQuestion(
  deps: ChatWorkerDependencies,
  item: WorkItem,
  question: Question,
): Promise<Settlement | undefined> {
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
  const target = { token: agent.bot_token, chatId, topicId };
  const answer = async (): Promise<Notice | typeof takenOver | undefined> =>
    runtime === undefined ? noReply : await runTurn(runtime, deps, item, question, addressed.text, chatId);
  const { taken } = await findTakeoverByKey(db, { agentId: agent.id, threadKey: telegramThreadKey(chatId, agent.id) });
  const notice = taken || runtime === undefined ? await answer() : await runWhileTyping(bot, target, answer);
  if (notice === takenOver)
    return { outcome: 'left_to_person', message: 'An operator has taken the thread and will answer.' };
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

/** Records the turn with its reply, or only the question during a takeover. On failure returns the notice to send. */
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
    if (turn.repeated)
      await db.transaction((tx) => storePlan(tx, item, { settlesAs: 'answered', message: null, html }));
    return undefined;
  } catch (error) {
    if (run.signal.aborted) throw run.signal.reason;
    if (!(error instanceof TurnFailure)) throw error;
    // A lost lease also aborts the model call. This is not a failure of the model, so the turn is retried without a
    // notice.
    if (error.kind === 'lost' || (error.kind === 'out_of_time' && !outOfTime.aborted))
      throw new RetryLater(error.message, { delayMs: 200 });
    return error.kind === 'over_budget' ? budgetNotice(error.retryAfter) : noReply;
  }
}

/** Returns the idempotency key of the turn that answers an update. */
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

const defaultRepeatMs = 4_500;

/** Shows "typing" until `work` ends. The platform displays it for five seconds per call, so the call is repeated. */
export async function runWhileTyping<T>(
  bot: BotApi,
  target: { token: string; chatId: number; topicId: number | undefined },
  work: () => Promise<T>,
  repeatMs = defaultRepeatMs,
): Promise<T> {
  const done = new AbortController();
  const show = async (): Promise<void> => {
    while (!done.signal.aborted) {
      if (!(await bot.sendTyping(target.token, target.chatId, target.topicId, done.signal))) return;
      await sleep(repeatMs, undefined, { signal: done.signal }).catch(() => undefined);
    }
  };
  const typing = show();
  try {
    return await work();
  } finally {
    done.abort();
    await typing;
  }
}
