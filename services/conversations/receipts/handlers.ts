/** Webhook receipts for the admin CLI (D20). */
import type { ReplyOf, RequestOf, Static } from '#libs/contract';
import { appError, notFound } from '#libs/errors';
import type { RequestContext } from '#libs/nats';
import { describeMissingBody } from '#libs/webhooks';
import { conversations } from '../contract.ts';
import type { Dependencies } from '../dependencies.ts';
import { requireId } from '../ids.ts';
import { instantFromSql, instantOrNull } from '../sql-values.ts';
import type { Receipt } from './contract.ts';
import * as statements from './statements.ts';
import type { ReceiptRow, ReplayableRow } from './statements.ts';

type Rpcs = typeof conversations.rpcs;

const defaultLimit = 100;

/** Newest first. */
export async function listReceipts({ db }: Dependencies, request: RequestOf<Rpcs['listReceipts']>): Promise<ReplyOf<Rpcs['listReceipts']>> {
  const rows = await statements.listReceipts(db, { ...toFilter(request), limit: request.limit ?? defaultLimit });
  return { items: rows.map(toReceipt) };
}

/** @throws AppError 404 */
export async function showReceipt({ db }: Dependencies, request: RequestOf<Rpcs['showReceipt']>): Promise<ReplyOf<Rpcs['showReceipt']>> {
  const row = await statements.findReceipt(db, { id: requireId(request.id) });
  if (row === undefined) throw notFound();
  const headers = JSON.parse(row.headers) as Record<string, string>;
  return { ...toReceipt(row), headers, body: row.body === null ? null : row.body.toString('utf8') };
}

/** Works the receipt again, its signature included. @throws AppError 404, 409 `receipt_without_body` */
export async function replayReceipt(
  { db, jobs }: Dependencies,
  request: RequestOf<Rpcs['replayReceipt']>,
  context: RequestContext,
): Promise<ReplyOf<Rpcs['replayReceipt']>> {
  const row = await statements.findReceipt(db, { id: requireId(request.id) });
  if (row === undefined) throw notFound();
  if (row.body === null) throw appError('conflict', 'receipt_without_body', describeMissingBody(row.outcome));
  const { requestId } = context;
  const jobId = await jobs.transaction((tx) => jobs.enqueue(tx, jobOf(row), { receipt_id: row.id }, { requestId }));
  return { id: row.id, job_id: jobId };
}

/** Works the receipts again that match, oldest first. */
export async function replayReceipts(
  { db, jobs }: Dependencies,
  request: RequestOf<Rpcs['replayReceipts']>,
  { requestId }: RequestContext,
): Promise<ReplyOf<Rpcs['replayReceipts']>> {
  const { limit, dry_run: dryRun } = request;
  const found = await statements.findReplayable(db, { ...toFilter(request), limit: limit + 1 });
  const matched = found.slice(0, limit);
  const replayable = matched.filter((row) => row.has_body);
  if (!dryRun && replayable.length > 0) {
    await jobs.transaction(async (tx) => {
      for (const row of replayable) await jobs.enqueue(tx, jobOf(row), { receipt_id: row.id }, { requestId });
    });
  }
  const counts = { matched: matched.length, replayed: replayable.length, without_body: matched.length - replayable.length };
  return { ...counts, nothing_left: 0, more: found.length > limit };
}

const jobOf = ({ source }: Pick<ReplayableRow, 'source'>) =>
  source === 'meeting' ? conversations.jobs.meetingReport : conversations.jobs.bookingEvent;

const toFilter = ({ outcome, source, since, until }: RequestOf<Rpcs['listReceipts']>) => ({ outcome, source, since, until });

function toReceipt(row: ReceiptRow): Static<typeof Receipt> {
  return {
    id: row.id,
    source: row.source,
    received_at: instantFromSql(row.received_at),
    person_id: row.source === 'meeting' ? null : row.person_id,
    trigger_event: row.trigger_event,
    outcome: row.outcome,
    message: row.message,
    conversation_id: row.conversation_id,
    deliveries: row.deliveries,
    processed_at: instantOrNull(row.processed_at),
    body_digest: row.body_digest,
    body_size: row.body_size,
  };
}
