/** Operations on webhook receipts for the admin CLI (D20). */
import { describeBulkAct, recordAudit } from '#libs/audit';
import type { ReplyOf, RequestOf, Static } from '#libs/contract';
import { appError, notFound } from '#libs/errors';
import type { RequestContext } from '#libs/nats';
import {
  collectVisibleMatches,
  decodeBody,
  describeMissingBody,
  filterVisibleMatches,
  textFilterValues,
  webhookAdminHandlers,
} from '#libs/webhooks';
import { conversations } from '../contract.ts';
import type { Dependencies, Operations } from '../dependencies.ts';
import { requireId } from '../guards.ts';
import { instantFromSql, instantOrNull } from '../representation.ts';
import type { Receipt, ReceiptSource } from './contract.ts';
import * as statements from './statements.ts';
import type { ReceiptRow, ReplayableRow } from './statements.ts';

type Rpcs = typeof conversations.rpcs;

const defaultLimit = 100;

export function createReceiptHandlers(
  dependencies: Dependencies,
): Pick<Operations, 'listReceipts' | 'showReceipt' | 'replayReceipt' | 'replayReceipts'> {
  return {
    listReceipts: (request) => listReceipts(dependencies, request),
    showReceipt: (request) => showReceipt(dependencies, request),
    replayReceipt: (request, context) => replayReceipt(dependencies, request, context),
    replayReceipts: (request, context) => replayReceipts(dependencies, request, context),
  };
}

/** Returns receipts, newest first. */
async function listReceipts(
  { db }: Dependencies,
  request: RequestOf<Rpcs['listReceipts']>,
): Promise<ReplyOf<Rpcs['listReceipts']>> {
  const { before, limit = defaultLimit, text: q } = request;
  const text = { db, search: statements.receiptSearch, q };
  const items = await collectVisibleMatches(text, { limit, before }, async (cursor) =>
    (
      await statements.listReceipts(db, { ...toFilter(request), beforeAt: cursor?.at, beforeId: cursor?.id, limit })
    ).map(toReceipt),
  );
  return { items };
}

/** Returns a receipt. @throws AppError 404 */
async function showReceipt(
  { db }: Dependencies,
  request: RequestOf<Rpcs['showReceipt']>,
): Promise<ReplyOf<Rpcs['showReceipt']>> {
  const row = await statements.findReceipt(db, { id: requireId(request.id) });
  if (row === undefined) throw notFound();
  const headers = JSON.parse(row.headers) as Record<string, string>;
  return { ...toReceipt(row), headers, body: row.body === null ? null : decodeBody(row.body) };
}

/**
 * Processes the receipt again. The signature is checked unless it was verified on receipt. @throws AppError 404, 409
 * `receipt_without_body`
 */
async function replayReceipt(
  { db, jobs }: Dependencies,
  request: RequestOf<Rpcs['replayReceipt']>,
  context: RequestContext,
): Promise<ReplyOf<Rpcs['replayReceipt']>> {
  const row = await statements.findReceipt(db, { id: requireId(request.id) });
  if (row === undefined) throw notFound();
  if (row.body === null) throw appError('conflict', 'receipt_without_body', describeMissingBody(row.outcome));
  const { requestId } = context;
  const jobId = await jobs.transaction(async (tx) => {
    recordAudit(tx, context, { target: { type: 'receipt', id: row.id } });
    return jobs.enqueue(tx, jobOf(row), { receipt_id: row.id }, { requestId });
  });
  return { id: row.id, job_id: jobId };
}

/** Processes the matching receipts again, oldest first. */
async function replayReceipts(
  { db, jobs }: Dependencies,
  request: RequestOf<Rpcs['replayReceipts']>,
  context: RequestContext,
): Promise<ReplyOf<Rpcs['replayReceipts']>> {
  const { limit, dry_run: dryRun, ...filter } = request;
  const found = await statements.findReplayable(db, { ...toFilter(request), limit: limit + 1 });
  const matched = await filterVisibleMatches(
    { db, search: statements.receiptSearch, q: request.text },
    found.slice(0, limit),
  );
  const replayable = matched.filter((row) => row.has_body);
  if (!dryRun && replayable.length > 0) {
    await jobs.transaction(async (tx) => {
      for (const row of replayable)
        await jobs.enqueue(tx, jobOf(row), { receipt_id: row.id }, { requestId: context.requestId });
      const done = { matched: matched.length, changed: replayable.length, failed: matched.length - replayable.length };
      recordAudit(tx, context, describeBulkAct({ filter }, done));
    });
  }
  const counts = {
    matched: matched.length,
    replayed: replayable.length,
    without_body: matched.length - replayable.length,
  };
  return { ...counts, nothing_left: 0, more: found.length > limit };
}

/** Creates the webhook operations for operators (P4). A bulk replay runs in one audited transaction. */
export function createWebhookHandlers({ db, jobs }: Pick<Dependencies, 'db' | 'jobs'>) {
  return webhookAdminHandlers({
    db,
    search: statements.receiptSearch,
    isDone: () => false,
    replay: async (receipts, context, describe) => {
      const done = { changed: receipts.length, failed: 0 };
      await jobs.transaction(async (tx) => {
        for (const { id, kind } of receipts)
          await jobs.enqueue(
            tx,
            jobOf({ source: kind as ReceiptSource }),
            { receipt_id: id },
            { requestId: context.requestId },
          );
        recordAudit(tx, context, describe(done));
      });
      return done;
    },
  });
}

const jobOf = ({ source }: Pick<ReplayableRow, 'source'>) =>
  source === 'meeting' ? conversations.jobs.meetingReport : conversations.jobs.bookingEvent;

const toFilter = ({ outcome, source, since, until, person_id: personId, text }: RequestOf<Rpcs['listReceipts']>) => ({
  outcome,
  source,
  since,
  until,
  personId: personId?.toString(),
  ...textFilterValues(text),
});

function toReceipt(row: ReceiptRow): Static<typeof Receipt> {
  return {
    id: row.id,
    source: row.source,
    received_at: instantFromSql(row.received_at),
    person_id: row.source === 'meeting' ? null : row.person_id,
    trigger_event: row.trigger_event,
    outcome: row.outcome,
    message: row.message,
    reconciled: row.reconciled,
    conversation_id: row.conversation_id,
    deliveries: row.deliveries,
    processed_at: instantOrNull(row.processed_at),
    body_digest: row.body_digest,
    body_size: row.body_size,
  };
}
