/** Receipts of messaging updates for the admin CLI (D20, D33b). */
import { describeFilter, type NewAuditEntry, recordAudit } from '#libs/audit';
import { AppError, appError, notFound } from '#libs/errors';
import type { Jobs } from '#libs/jobs';
import { type CallContext, type Handlers, rawJson, type RequestContext } from '#libs/nats';
import type { Database, Tx } from '#libs/orm';
import { describeMissingBody, textFilterValues, webhookHandlers } from '#libs/webhooks';
import { findMessagingAgent, type MessagingAgent } from '../agent/index.ts';
import type { agents } from '../contract.ts';
import {
  type Admission,
  admitUpdate,
  clearSends,
  findChatJob,
  findReceipt,
  openChat,
  readUpdate,
  type ReceiptRow,
  repeatSends,
  startChat,
  type Update,
  updateKey,
} from '../telegram/index.ts';
import {
  findReceiptByKey,
  findReceiptDetails,
  findReplayable,
  receiptSearch,
  renderReceipts,
  reopenReceipt,
  resumeReceipt,
} from './statements.ts';

type ReceiptHandlers = Pick<
  Handlers<typeof agents>,
  'listReceipts' | 'showReceipt' | 'replayReceipt' | 'replayReceipts' | 'listWebhooks' | 'showWebhook' | 'replayWebhooks'
>;

interface Replay {
  readonly row: ReceiptRow;
  readonly agent: MessagingAgent;
  readonly update: Update;
  readonly start: Start;
}

/** Sees that a job works the chat. @returns the job, and whether it was made for this; undefined where nothing waits */
type Start = (chat: number) => Promise<{ readonly id: string; readonly isNew: boolean } | undefined>;

const defaultLimit = 100;

export function createReceiptHandlers({ db, jobs }: { db: Database; jobs: Jobs<typeof agents> }): ReceiptHandlers {
  return {
    ...createWebhookHandlers(db, jobs),
    listReceipts: async ({ limit = defaultLimit, outcome, since, until, text, before }) => {
      const wanted = { outcome, since, until, ...textFilterValues(text), beforeAt: before?.at, beforeId: before?.id, limit };
      return rawJson(`{"items":${(await renderReceipts(db, wanted)).json}}`);
    },
    showReceipt: async ({ id }) => {
      const row = await findReceiptDetails(db, { id });
      if (row === undefined) throw notFound();
      const { headers, body, sends, ...receipt } = row;
      const shown = { ...receipt, body: body === null ? null : body.toString('utf8') };
      return rawJson(`${JSON.stringify(shown).slice(0, -1)},"headers":${headers},"sends":${sends}}`);
    },
    replayReceipt: ({ id }, context) =>
      jobs.transaction(async (tx) => {
        const jobId = await replayOne(tx, jobs, id, context, createStart(tx, jobs, context));
        if (jobId !== undefined) recordAudit(tx, context, { target: { type: 'receipt', id } });
        return { id, job_id: jobId ?? null };
      }),
    replayReceipts: async ({ limit, dry_run: dryRun, outcome, since, until, text }, context) => {
      const found = await findReplayable(db, { outcome, since, until, ...textFilterValues(text), limit: limit + 1 });
      const rows = found.slice(0, limit);
      const kept = rows.filter((row) => row.has_body);
      const able = kept.filter((row) => !row.is_answered);
      const filter = describeFilter({ outcome, since, until, text });
      const done = dryRun
        ? { ...nothingDone, replayed: able.length }
        : await replayMany(jobs, able, context, (count) => ({ changes: { filter, count } }));
      return {
        matched: rows.length,
        replayed: done.replayed,
        without_body: rows.length - kept.length + done.without_body,
        nothing_left: kept.length - able.length + done.nothing_left,
        no_agent: done.no_agent,
        more: found.length > limit || done.left > 0,
      };
    },
  };
}

/** For operators (P4). */
function createWebhookHandlers(db: Database, jobs: Jobs<typeof agents>) {
  return webhookHandlers({
    db,
    search: receiptSearch,
    isDone: (outcome) => outcome === 'answered' || outcome === 'left_to_person',
    replay: async (receipts, context, entry) => {
      const written = (changed: number): NewAuditEntry =>
        entry.changes === undefined ? entry : { ...entry, changes: { ...entry.changes, changed } };
      const done = await replayMany(jobs, receipts, context, written);
      return { changed: done.replayed, failed: done.no_agent + done.without_body };
    },
  });
}

/** What is left at the end of a call is left to the next one. */
const reserveMs = 5_000;
const nothingDone = { replayed: 0, nothing_left: 0, without_body: 0, no_agent: 0, left: 0 };

/** One after the other while the call has time, all in one transaction with their entry of the audit log (A1). */
async function replayMany(
  jobs: Jobs<typeof agents>,
  receipts: readonly { readonly id: number }[],
  context: RequestContext,
  describe: (replayed: number) => NewAuditEntry,
): Promise<typeof nothingDone> {
  return await jobs.transaction(async (tx) => {
    const counts = { ...nothingDone, left: receipts.length };
    const start = createStart(tx, jobs, context);
    for (const { id } of receipts) {
      if (Date.now() > context.deadlineMs - reserveMs) break;
      counts[await tryReplay(tx, jobs, id, context, start)] += 1;
      counts.left -= 1;
    }
    if (counts.replayed > 0) recordAudit(tx, context, describe(counts.replayed));
    return counts;
  });
}

/** @returns the job that works it; undefined when nothing is left to do. @throws AppError 404, 409 `receipt_without_body`, 404 `agent_not_found`: nothing is changed then */
async function replayOne(tx: Tx, jobs: Jobs<typeof agents>, id: number, origin: CallContext, start: Start): Promise<string | undefined> {
  const row = await findReceipt(tx, { id });
  if (row === undefined) throw notFound();
  const update = row.body === null ? undefined : readUpdate(row.body);
  if (update === undefined) throw appError('conflict', 'receipt_without_body', describeMissingBody(row.outcome));
  const agent = await findMessagingAgent(tx, row.agent_id === null ? { slug: row.agent_slug } : { id: row.agent_id });
  if (agent === undefined) throw appError('not_found', 'agent_not_found', `No agent has the slug "${row.agent_slug}"`);
  return await replay(tx, jobs, { row, agent, update, start }, origin);
}

/** One job for a chat, however many of its updates the transaction works again: what is enqueued is written with the commit, and found by no statement before. */
function createStart(tx: Tx, jobs: Jobs<typeof agents>, { requestId, traceparent }: CallContext): Start {
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

/** One of many: what cannot be replayed does not hold up the others. */
async function tryReplay(
  tx: Tx,
  jobs: Jobs<typeof agents>,
  id: number,
  context: CallContext,
  start: Start,
): Promise<'replayed' | 'nothing_left' | 'without_body' | 'no_agent'> {
  try {
    return (await replayOne(tx, jobs, id, context, start)) === undefined ? 'nothing_left' : 'replayed';
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (error.reason === 'agent_not_found') return 'no_agent';
    if (error.reason === 'receipt_without_body') return 'without_body';
    if (error.code === 'not_found') return 'nothing_left';
    throw error;
  }
}

/** What was answered stays so; a reply that did not surely arrive is sent again; everything else is worked from the start. */
async function replay(
  tx: Tx,
  jobs: Jobs<typeof agents>,
  { row, agent, update, start }: Replay,
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
    if ((await repeatSends(tx, { receiptId: row.id })).length === 0) return undefined;
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
