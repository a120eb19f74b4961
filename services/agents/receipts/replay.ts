/** Works receipts of updates again (D20, D33b); those of agents that were not there are judged first (P8). */
import { appError, notFound } from '#libs/errors';
import type { Jobs } from '#libs/jobs';
import type { CallContext } from '#libs/nats';
import type { Tx } from '#libs/orm';
import { describeMissingBody, maxStoredBytes, unsignedOutcome } from '#libs/webhooks';
import { findMessagingAgent, type MessagingAgent } from '../agent/index.ts';
import type { agents } from '../contract.ts';
import {
  type Admission,
  admitUpdate,
  clearSends,
  findChatJob,
  findReceipt,
  verifyUpdate,
  openChat,
  readUpdate,
  type ReceiptRow,
  replanSends,
  startChat,
  decodeSecretDigest,
  type Update,
  updateKey,
} from '../telegram/index.ts';
import { findReceiptByKey, rejectReceipt, reopenReceipt, resumeReceipt } from './statements.ts';

export interface ReplayDependencies {
  readonly tx: Tx;
  readonly jobs: Jobs<typeof agents>;
  /** Whether agents without a webhook secret believe anybody (D64). */
  readonly allowUnsigned: boolean;
}

/**
 * Works one receipt.
 * @throws AppError 404, 409 `receipt_without_body`, 404 `agent_not_found`, 409 `agent_without_secret`: nothing is changed then
 */
export type Replay = (id: number) => Promise<{ readonly isReplayed: boolean; readonly jobId?: string | undefined }>;

interface ReplayTarget {
  readonly row: ReceiptRow;
  readonly agent: MessagingAgent;
  readonly update: Update;
  readonly start: StartChat;
}

/** Sees that a job works the chat. @returns the job, and whether it was made for this; undefined where nothing waits */
type StartChat = (chat: number) => Promise<{ readonly id: string; readonly isNew: boolean } | undefined>;

/** Replays of one transaction. */
export function createReplay(dependencies: ReplayDependencies, origin: CallContext): Replay {
  const { tx } = dependencies;
  const start = createStartChat(dependencies, origin);
  return async (id) => {
    const row = await findReceipt(tx, { id });
    if (row === undefined) throw notFound();
    if (row.body === null) throw appError('conflict', 'receipt_without_body', describeMissingBody(row.outcome));
    const agent = await findMessagingAgent(tx, row.agent_id === null ? { slug: row.agent_slug } : { id: row.agent_id });
    if (agent === undefined) throw appError('not_found', 'agent_not_found', `No agent has the slug "${row.agent_slug}"`);
    if (row.agent_id === null && (await rejectUnverified(dependencies, row, agent))) return { isReplayed: true };
    const update = readUpdate(row.body);
    if (update === undefined) return { isReplayed: false };
    const jobId = await reprocess(dependencies, { row, agent, update, start }, origin);
    return { isReplayed: jobId !== undefined, jobId };
  };
}

/** What came before its agent is judged by the agent's present secret. @returns whether it is rejected now */
async function rejectUnverified({ tx, allowUnsigned }: ReplayDependencies, row: ReceiptRow, agent: MessagingAgent): Promise<boolean> {
  const trust = { secret: agent.webhook_secret ?? undefined, allowUnsigned };
  const verdict = verifyUpdate(row.body, decodeSecretDigest(row.secret_digest), trust);
  if (verdict.kind === 'update') return false;
  const { outcome, message } = verdict;
  if (outcome === unsignedOutcome) throw appError('conflict', 'agent_without_secret', message);
  await rejectReceipt(tx, { id: row.id, agentId: agent.id, outcome, message, maxStoredBytes: maxStoredBytes(outcome) });
  return true;
}

/** One job for a chat, however many of its updates the transaction works again: what is enqueued is written with the commit, and found by no statement before. */
function createStartChat({ tx, jobs }: ReplayDependencies, { requestId, traceparent }: CallContext): StartChat {
  const started = new Map<number, string>();
  return async (chat) => {
    const known = started.get(chat) ?? (await findChatJob(tx, { chat }))?.id;
    if (known !== undefined) return { id: known, isNew: false };
    const id = await startChat(tx, jobs, chat, { requestId, traceparent });
    if (id === undefined) return undefined;
    started.set(chat, id);
    return { id, isNew: true };
  };
}

/** What was answered stays so; a reply that did not surely arrive is sent again; everything else is worked from the start. */
async function reprocess(
  { tx, jobs }: ReplayDependencies,
  { row, agent, update, start }: ReplayTarget,
  { requestId, traceparent }: CallContext,
): Promise<string | undefined> {
  const { content } = update;
  const chat = content.kind === 'other' ? undefined : (await openChat(tx, { agentId: agent.id, chatId: content.chatId })).id;
  if (row.outcome === 'answered' || row.outcome === 'left_to_person') return undefined;
  if (chat !== undefined && (row.outcome === 'pending' || row.outcome === 'answering')) {
    const job = await start(chat);
    return job?.isNew === true ? job.id : undefined;
  }
  if (chat !== undefined && row.settles_as === 'answered' && row.reply_html !== null) {
    if ((await replanSends(tx, { receiptId: row.id })).length === 0) return undefined;
    await resumeReceipt(tx, { id: row.id });
    return (await start(chat))?.id;
  }
  const dedupeKey = updateKey(agent.id, update.updateId);
  const duplicate = await findReceiptByKey(tx, { dedupeKey });
  if (duplicate !== undefined && duplicate.id !== row.id) return undefined;
  await clearSends(tx, { receiptId: row.id });
  const store: Admission['store'] = async ({ chatId, chat: queue, outcome }) => {
    const as = { agentId: agent.id, kind: update.field, updateId: update.updateId, senderId: update.senderId, dedupeKey };
    await reopenReceipt(tx, { ...as, id: row.id, chatId, chat: queue, outcome });
    return { id: row.id, is_new: true };
  };
  const origin = { requestId, traceparent };
  return await admitUpdate(tx, jobs, { agent, update, origin, store, start: async (of) => (await start(of))?.id });
}
