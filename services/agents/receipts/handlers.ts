/** Receipts of messaging updates for the admin CLI (D20, D33b). */
import { type AuditContext, describeFilter, recordAudit } from '#libs/audit';
import { AppError, appError, notFound } from '#libs/errors';
import type { Jobs } from '#libs/jobs';
import { type CallContext, type Handlers, rawJson } from '#libs/nats';
import type { Database, Tx } from '#libs/orm';
import { describeMissingBody, textFilterValues, webhookHandlers } from '#libs/webhooks';
import { findMessagingAgent, type MessagingAgent } from '../agent/index.ts';
import type { agents } from '../contract.ts';
import {
  type Admission,
  admitUpdate,
  clearSends,
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
  readonly origin: Pick<CallContext, 'requestId' | 'traceparent'>;
}

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
    replayReceipt: async ({ id }, context) => ({ id, job_id: (await replayOne(db, jobs, id, context, context)) ?? null }),
    replayReceipts: async ({ limit, dry_run: dryRun, outcome, since, until, text }, context) => {
      const found = await findReplayable(db, { outcome, since, until, ...textFilterValues(text), limit: limit + 1 });
      const rows = found.slice(0, limit);
      const replayable = rows.filter((row) => row.has_body && !row.is_answered).length;
      // Each is replayed in a transaction of its own, so what is to come is written before.
      if (!dryRun && replayable > 0) {
        const changes = { filter: describeFilter({ outcome, since, until, text }), count: replayable };
        await db.transaction(async (tx) => recordAudit(tx, context, { changes }));
      }
      const counts = { matched: rows.length, replayed: 0, without_body: 0, nothing_left: 0, no_agent: 0 };
      for (const { id, has_body: hasBody, is_answered: isAnswered } of rows) {
        if (Date.now() > context.deadlineMs - reserveMs) return { ...counts, more: true };
        if (!hasBody) counts.without_body += 1;
        else if (isAnswered) counts.nothing_left += 1;
        else counts[dryRun ? 'replayed' : await tryReplay(db, jobs, id, context)] += 1;
      }
      return { ...counts, more: found.length > limit };
    },
  };
}

/** What is left at the end of a call is left to the next one. */
const reserveMs = 5_000;

/** For operators (P4): each in a transaction of its own, so what is to come is written before. */
function createWebhookHandlers(db: Database, jobs: Jobs<typeof agents>) {
  return webhookHandlers({
    db,
    search: receiptSearch,
    isDone: (outcome) => outcome === 'answered' || outcome === 'left_to_person',
    replay: async (receipts, context, entry) => {
      await db.transaction(async (tx) => recordAudit(tx, context, entry));
      const counts = { changed: 0, failed: 0 };
      for (const { id } of receipts) {
        if (Date.now() > context.deadlineMs - reserveMs) break;
        const result = await tryReplay(db, jobs, id, context);
        if (result === 'replayed') counts.changed++;
        else if (result !== 'nothing_left') counts.failed++;
      }
      return counts;
    },
  });
}

/** @param audited writes it into the audit log. @returns its job; undefined when nothing is left to do. @throws AppError 404, 409 `receipt_without_body`, 404 `agent_not_found` */
async function replayOne(
  db: Database,
  jobs: Jobs<typeof agents>,
  id: number,
  { requestId, traceparent }: CallContext,
  audited?: AuditContext,
): Promise<string | undefined> {
  const row = await findReceipt(db, { id });
  if (row === undefined) throw notFound();
  const update = row.body === null ? undefined : readUpdate(row.body);
  if (update === undefined) throw appError('conflict', 'receipt_without_body', describeMissingBody(row.outcome));
  const agent = await findMessagingAgent(db, row.agent_id === null ? { slug: row.agent_slug } : { id: row.agent_id });
  if (agent === undefined) throw appError('not_found', 'agent_not_found', `No agent has the slug "${row.agent_slug}"`);
  return await jobs.transaction(async (tx) => {
    const job = await replay(tx, jobs, { row, agent, update, origin: { requestId, traceparent } });
    if (audited !== undefined && job !== undefined) recordAudit(tx, audited, { target: { type: 'receipt', id } });
    return job;
  });
}

/** One of many: what cannot be replayed does not hold up the others. */
async function tryReplay(
  db: Database,
  jobs: Jobs<typeof agents>,
  id: number,
  context: CallContext,
): Promise<'replayed' | 'nothing_left' | 'without_body' | 'no_agent'> {
  try {
    return (await replayOne(db, jobs, id, context)) === undefined ? 'nothing_left' : 'replayed';
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (error.reason === 'agent_not_found') return 'no_agent';
    if (error.reason === 'receipt_without_body') return 'without_body';
    if (error.code === 'not_found') return 'nothing_left';
    throw error;
  }
}

/** What was answered stays so; a reply that did not surely arrive is sent again; everything else is worked from the start. */
async function replay(tx: Tx, jobs: Jobs<typeof agents>, { row, agent, update, origin }: Replay): Promise<string | undefined> {
  const { content } = update;
  const chat = content.kind === 'other' ? undefined : (await openChat(tx, { agentId: agent.id, chatId: content.chatId })).id;
  if (row.outcome === 'answered' || row.outcome === 'left_to_person') return undefined;
  if (chat !== undefined && (row.outcome === 'pending' || row.outcome === 'answering')) return await startChat(tx, jobs, chat, origin);
  if (chat !== undefined && row.settles_as === 'answered' && row.reply_html !== null) {
    if ((await repeatSends(tx, { receiptId: row.id })).length === 0) return undefined;
    await resumeReceipt(tx, { id: row.id });
    return await startChat(tx, jobs, chat, origin);
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
  return await admitUpdate(tx, jobs, { agent, update, origin, store });
}
