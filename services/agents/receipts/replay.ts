/** Replays receipts of updates (D20, D33b). Updates received before their agent existed are verified first (P8). */
import { appError, notFound } from '#libs/infrastructure/errors';
import type { Jobs } from '#libs/infrastructure/jobs';
import type { CallContext } from '#libs/infrastructure/nats';
import type { Tx } from '#libs/infrastructure/orm';
import { describeMissingBody, maxStoredBytes, unsignedOutcome } from '#libs/product/webhooks';
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
  /** Accepts updates for agents without a webhook secret (D64). */
  readonly allowUnsigned: boolean;
}

/**
 * Replays one receipt.
 * @throws AppError 404, 409 `receipt_without_body`, 404 `agent_not_found`, 409 `agent_without_secret`; nothing is
 * changed
 */
export type Replay = (id: number) => Promise<{ readonly isReplayed: boolean; readonly jobId?: string | undefined }>;

interface ReplayTarget {
  readonly row: ReceiptRow;
  readonly agent: MessagingAgent;
  readonly update: Update;
  readonly start: StartChat;
}

/**
 * Ensures that a job processes the chat. Returns the job and whether it is new, or undefined when no update is waiting.
 */
type StartChat = (chat: number) => Promise<{ readonly id: string; readonly isNew: boolean } | undefined>;

/** Creates the replay function of one transaction. */
export function createReplay(dependencies: ReplayDependencies, origin: CallContext): Replay {
  const { tx } = dependencies;
  const start = createStartChat(dependencies, origin);
  return async (id) => {
    const row = await findReceipt(tx, { id });
    if (row === undefined) throw notFound();
    if (row.body === null) throw appError('conflict', 'receipt_without_body', describeMissingBody(row.outcome));
    const agent = await findMessagingAgent(tx, row.agent_id === null ? { slug: row.agent_slug } : { id: row.agent_id });
    if (agent === undefined)
      throw appError('not_found', 'agent_not_found', `No agent has the slug "${row.agent_slug}"`);
    if (row.agent_id === null && (await rejectUnverified(dependencies, row, agent))) return { isReplayed: true };
    const update = readUpdate(row.body);
    if (update === undefined) return { isReplayed: false };
    const jobId = await reprocess(dependencies, { row, agent, update, start }, origin);
    return { isReplayed: jobId !== undefined, jobId };
  };
}

/**
 * Verifies an update that arrived before its agent existed, with the agent's current secret. Returns whether the update
 * was rejected.
 */
async function rejectUnverified(
  { tx, allowUnsigned }: ReplayDependencies,
  row: ReceiptRow,
  agent: MessagingAgent,
): Promise<boolean> {
  const trust = { secret: agent.webhook_secret ?? undefined, allowUnsigned };
  const verdict = verifyUpdate(row.body, decodeSecretDigest(row.secret_digest), trust);
  if (verdict.kind === 'update') return false;
  const { outcome, message } = verdict;
  if (outcome === unsignedOutcome) throw appError('conflict', 'agent_without_secret', message);
  await rejectReceipt(tx, { id: row.id, agentId: agent.id, outcome, message, maxStoredBytes: maxStoredBytes(outcome) });
  return true;
}

/**
 * Starts at most one job per chat in a transaction. Enqueued jobs are written at the commit, so queries before the
 * commit do not find them.
 */
function createStartChat({ tx, jobs }: ReplayDependencies, { requestId, traceparent }: CallContext): StartChat {
  const started = new Map<number, string>();
  return async (chat) => {
    const existing = started.get(chat) ?? (await findChatJob(tx, { chat }))?.id;
    if (existing !== undefined) return { id: existing, isNew: false };
    const id = await startChat(tx, jobs, chat, { requestId, traceparent });
    if (id === undefined) return undefined;
    started.set(chat, id);
    return { id, isNew: true };
  };
}

/**
 * Processes a stored update again. Answered updates remain unchanged, sends that may not have arrived are repeated, and
 * all other updates are processed from the start.
 */
async function reprocess(
  { tx, jobs }: ReplayDependencies,
  { row, agent, update, start }: ReplayTarget,
  { requestId, traceparent }: CallContext,
): Promise<string | undefined> {
  const { content } = update;
  const chat =
    content.kind === 'other' ? undefined : (await openChat(tx, { agentId: agent.id, chatId: content.chatId })).id;
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
    const as = {
      agentId: agent.id,
      kind: update.field,
      updateId: update.updateId,
      senderId: update.senderId,
      dedupeKey,
    };
    await reopenReceipt(tx, { ...as, id: row.id, chatId, chat: queue, outcome });
    return { id: row.id, is_new: true };
  };
  const origin = { requestId, traceparent };
  return await admitUpdate(tx, jobs, { agent, update, origin, store, start: async (of) => (await start(of))?.id });
}
