/**
 * Processes the updates of a chat (D32). A chat with waiting updates has exactly one job, which enqueues the next one
 * in the transaction that ends it. Messages of one chat are therefore answered in order, and chats do not block each
 * other. The fence prevents writes by earlier attempts.
 */
import { AppError } from '#libs/infrastructure/errors';
import type { Queryable } from '#libs/infrastructure/sql';
import { maxStoredBytes } from '#libs/product/webhooks';
import { LeaseLost, PermanentJobError, RetryLater } from '#libs/infrastructure/jobs';
import { findMessagingAgent, type MessagingAgent } from '../../agent/index.ts';
import { agents } from '../../contract.ts';
import type { Dependencies } from '../../dependencies.ts';
import { migrateChat } from '../chat-queue.ts';
import { type Migration, readUpdate } from '../rules/update.ts';
import { startChatAttempt, type ClaimedChat, findPendingReceipt, lockChat, setChatJob } from '../statements/chats.ts';
import {
  findNextReceipt,
  findReceipt,
  type ReceiptRow,
  type Settlement,
  settleReceipt,
} from '../statements/receipts.ts';
import { findNextOperatorSend, abandonOperatorSends } from '../statements/sends.ts';
import { type ChatJobRun, type ChatWorkerDependencies, createIntakeOrder, type IntakeOrder } from './chat-run.ts';
import { answerQuestion } from './answer-question.ts';
import { deliverReply, deliverOperatorMessages } from './deliver.ts';

/** Maximum attempts after internal errors. Then the update fails, so that it does not block the chat. */
const maxFaults = 8;
const migrationPauseMs = 300;

export function createChatWorker(deps: ChatWorkerDependencies & Pick<Dependencies, 'bus'>) {
  const order = createIntakeOrder(deps.bus);
  return async (run: ChatJobRun): Promise<void> => {
    const chat = await startChatAttempt(deps.db, { chat: run.payload.chat_id, jobId: run.id });
    if (chat === undefined) return;
    // Messages of operators are sent before waiting updates, but do not interrupt a reply.
    if (
      (await hasOperatorSends(deps.db, chat)) &&
      (await findNextReceipt(deps.db, { chat: chat.id }))?.answering !== true
    ) {
      await deliverOperatorMessages(deps, run, chat).catch((error: unknown) => abandonOnFault(deps, run, chat, error));
      return await finish(deps, run, chat, undefined);
    }
    const receiptId = await waitForNext({ db: deps.db, order }, run, chat);
    if (receiptId === undefined) return await finish(deps, run, chat, undefined);
    const settlement = await processReceipt(deps, run, chat, receiptId).catch((error: unknown) =>
      toSettlement(error, run),
    );
    await finish(deps, run, chat, { receiptId, settlement });
  };
}

/** Returns the first waiting update once every earlier update is stored. */
async function waitForNext(
  { db, order }: { readonly db: Queryable; readonly order: IntakeOrder },
  run: ChatJobRun,
  chat: ClaimedChat,
): Promise<number | undefined> {
  for (;;) {
    const next = await findNextReceipt(db, { chat: chat.id });
    if (next === undefined || next.waited || order.isComplete(next.stream_sequence)) return next?.id;
    await order.refresh();
    run.signal.throwIfAborted();
  }
}

async function processReceipt(
  deps: ChatWorkerDependencies,
  run: ChatJobRun,
  chat: ClaimedChat,
  receiptId: number,
): Promise<Settlement> {
  const { db } = deps;
  const receipt = await findReceipt(db, { id: receiptId });
  const agent = await findMessagingAgent(db, { id: chat.agent_id });
  if (receipt === undefined || agent === undefined) return { outcome: 'agent_not_found' };
  const update = receipt.body === null ? undefined : readUpdate(receipt.body);
  if (update === undefined || update.content.kind === 'other')
    return { outcome: 'failed', message: 'The update was erased before it was processed.' };
  const { content } = update;
  if (content.kind === 'migration') return await migrate(deps, agent, receipt, content);
  const { bot_token: token } = agent;
  if (token === null) return { outcome: 'failed', message: 'The agent has no `config.messaging.bot_token`.' };
  const item = { run, chat, receipt, agent: { ...agent, bot_token: token } };
  if (receipt.outcome === 'pending') {
    if (receipt.expired) return { outcome: 'expired', message: 'Too old to answer.' };
    const settlement = await answerQuestion(deps, item, content);
    if (settlement !== undefined) return settlement;
  }
  return await deliverReply(deps, item, content);
}

/** Migrates a group. Waiting updates of the group are processed before updates of the supergroup. */
async function migrate(
  { db }: ChatWorkerDependencies,
  agent: MessagingAgent,
  receipt: ReceiptRow,
  { chatId, from, to }: Migration,
): Promise<Settlement> {
  if (
    chatId === to &&
    !receipt.expired &&
    (await findPendingReceipt(db, { agentId: agent.id, chatId: from })) !== undefined
  ) {
    throw new RetryLater('The group has waiting updates', { delayMs: migrationPauseMs });
  }
  await db.transaction((tx) => migrateChat(tx, agent.id, from, to));
  return { outcome: 'migrated', message: `${from} became ${to}.`, echo: 'raw' };
}

/**
 * Rethrows expected failures for a retry. Other errors fail the update after `maxFaults` attempts, so that the chat
 * continues.
 */
function toSettlement(error: unknown, run: ChatJobRun): Settlement {
  if (
    run.signal.aborted ||
    error instanceof RetryLater ||
    error instanceof LeaseLost ||
    error instanceof PermanentJobError
  )
    throw error;
  if (error instanceof AppError && error.retryable) throw new RetryLater(error.message, { cause: error });
  if (run.attempt < maxFaults) throw error;
  run.logger.error({ err: error, chat: run.payload.chat_id }, 'telegram: update failed permanently');
  return { outcome: 'failed', message: 'Internal error. See the log.' };
}

/**
 * Treats errors while sending operators' messages like errors of updates: the messages fail after `maxFaults` attempts.
 */
async function abandonOnFault(
  { db }: ChatWorkerDependencies,
  run: ChatJobRun,
  chat: ClaimedChat,
  error: unknown,
): Promise<void> {
  const { message = '' } = toSettlement(error, run);
  await abandonOperatorSends(db, { chat: chat.id, fence: chat.fence, error: message ?? '' });
}

async function hasOperatorSends(db: Queryable, { id: chat }: { readonly id: number }): Promise<boolean> {
  return (await findNextOperatorSend(db, { chat })) !== undefined;
}

/** Settles the update and enqueues the next job, in the transaction that ends this job. */
async function finish(
  { jobs }: ChatWorkerDependencies,
  run: ChatJobRun,
  chat: ClaimedChat,
  done: { receiptId: number; settlement: Settlement } | undefined,
): Promise<void> {
  await run.complete(async (tx) => {
    if ((await lockChat(tx, chat)) === undefined) throw new LeaseLost();
    const { requestId } = run;
    if (done !== undefined) {
      const { receiptId, settlement } = done;
      const { outcome, message, echo } = settlement;
      await settleReceipt(tx, {
        id: receiptId,
        outcome,
        message,
        maxStoredBytes: maxStoredBytes(echo === undefined ? outcome : 'pending'),
      });
      if (echo !== undefined)
        await jobs.enqueue(tx, agents.jobs.echoUpdate, { receipt_id: receiptId, what: echo }, { requestId });
    }
    const next = await findNextReceipt(tx, { chat: chat.id });
    const isOver = next === undefined && !(await hasOperatorSends(tx, chat));
    const jobId = isOver ? null : await jobs.enqueue(tx, agents.jobs.workChat, { chat_id: chat.id }, { requestId });
    await setChatJob(tx, { chat: chat.id, jobId });
  });
}
