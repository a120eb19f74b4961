/** Receipts of messaging updates for the admin CLI (D20, D33b). */
import { describeBulkAct, type NewAuditEntry, recordAudit } from '#libs/audit';
import { AppError, notFound } from '#libs/errors';
import type { Jobs } from '#libs/jobs';
import { type CallContext, type Handlers, rawJson, type RequestContext } from '#libs/nats';
import type { Database, Tx } from '#libs/orm';
import { collectVisibleMatches, decodeBody, filterVisibleMatches, textFilterValues, webhookAdminHandlers } from '#libs/webhooks';
import type { agents } from '../contract.ts';
import type { UpdateReceipt } from './contract.ts';
import { createReplay, type Replay } from './replay.ts';
import { findReceiptDetails, findReplayable, receiptSearch, renderReceipts } from './statements.ts';

type ReceiptHandlers = Pick<
  Handlers<typeof agents>,
  'listReceipts' | 'showReceipt' | 'replayReceipt' | 'replayReceipts' | 'listWebhooks' | 'showWebhook' | 'replayWebhooks'
>;

type BeginReplay = (tx: Tx, context: CallContext) => Replay;

const defaultLimit = 100;

export interface ReceiptDependencies {
  readonly db: Database;
  readonly jobs: Jobs<typeof agents>;
  /** Whether agents without a webhook secret believe anybody (D64). */
  readonly allowUnsigned: boolean;
}

export function createReceiptHandlers({ db, jobs, allowUnsigned }: ReceiptDependencies): ReceiptHandlers {
  const beginReplay: BeginReplay = (tx, context) => createReplay({ tx, jobs, allowUnsigned }, context);
  return {
    ...createWebhookHandlers(db, jobs, beginReplay),
    listReceipts: async ({ limit = defaultLimit, outcome, since, until, text, before }) => {
      const wanted = { outcome, since, until, ...textFilterValues(text), limit };
      const items = await collectVisibleMatches({ db, search: receiptSearch, q: text }, { limit, before }, async (place) => {
        const found = await renderReceipts(db, { ...wanted, beforeAt: place?.at, beforeId: place?.id });
        return JSON.parse(found.json) as UpdateReceipt[];
      });
      return { items };
    },
    showReceipt: async ({ id }) => {
      const row = await findReceiptDetails(db, { id });
      if (row === undefined) throw notFound();
      const { headers, body, sends, ...receipt } = row;
      const shown = { ...receipt, body: body === null ? null : decodeBody(body) };
      return rawJson(`${JSON.stringify(shown).slice(0, -1)},"headers":${headers},"sends":${sends}}`);
    },
    replayReceipt: ({ id }, context) =>
      jobs.transaction(async (tx) => {
        const { isReplayed: isWorked, jobId } = await beginReplay(tx, context)(id);
        if (isWorked) recordAudit(tx, context, { target: { type: 'receipt', id } });
        return { id, job_id: jobId ?? null };
      }),
    replayReceipts: async ({ limit, dry_run: dryRun, outcome, since, until, text }, context) => {
      const found = await findReplayable(db, { outcome, since, until, ...textFilterValues(text), limit: limit + 1 });
      const rows = await filterVisibleMatches({ db, search: receiptSearch, q: text }, found.slice(0, limit));
      const kept = rows.filter((row) => row.has_body);
      const able = kept.filter((row) => !row.is_answered);
      const done = dryRun
        ? { ...nothingDone, replayed: able.length }
        : await replayMany({ jobs, beginReplay }, able, context, (counts) =>
            describeBulkAct(
              { filter: { outcome, since, until, text } },
              { matched: rows.length, changed: counts.replayed, failed: rows.length - able.length + failuresOf(counts) },
            ),
          );
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
function createWebhookHandlers(db: Database, jobs: Jobs<typeof agents>, beginReplay: BeginReplay) {
  return webhookAdminHandlers({
    db,
    search: receiptSearch,
    isDone: (outcome) => outcome === 'answered' || outcome === 'left_to_person',
    replay: async (receipts, context, describe) => {
      const outcome = (counts: typeof nothingDone) => ({ changed: counts.replayed, failed: failuresOf(counts) });
      return outcome(await replayMany({ jobs, beginReplay }, receipts, context, (counts) => describe(outcome(counts))));
    },
  });
}

/** What is left at the end of a call is left to the next one. */
const reserveMs = 5_000;
const nothingDone = { replayed: 0, nothing_left: 0, without_body: 0, no_agent: 0, left: 0 };
const failuresOf = ({ no_agent: unknown, without_body: gone }: typeof nothingDone): number => unknown + gone;

/** One after the other while the call has time, all in one transaction with their entry of the audit log (A1). */
async function replayMany(
  { jobs, beginReplay }: { readonly jobs: Jobs<typeof agents>; readonly beginReplay: BeginReplay },
  receipts: readonly { readonly id: number }[],
  context: RequestContext,
  describe: (counts: typeof nothingDone) => NewAuditEntry,
): Promise<typeof nothingDone> {
  return await jobs.transaction(async (tx) => {
    const counts = { ...nothingDone, left: receipts.length };
    const replay = beginReplay(tx, context);
    for (const { id } of receipts) {
      if (Date.now() > context.deadlineMs - reserveMs) break;
      counts[await tryReplay(replay, id)] += 1;
      counts.left -= 1;
    }
    if (counts.replayed > 0) recordAudit(tx, context, describe(counts));
    return counts;
  });
}

/** One of many: what cannot be replayed does not hold up the others. */
async function tryReplay(replay: Replay, id: number): Promise<'replayed' | 'nothing_left' | 'without_body' | 'no_agent'> {
  try {
    return (await replay(id)).isReplayed ? 'replayed' : 'nothing_left';
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (error.reason === 'agent_not_found' || error.reason === 'agent_without_secret') return 'no_agent';
    if (error.reason === 'receipt_without_body') return 'without_body';
    if (error.code === 'not_found') return 'nothing_left';
    throw error;
  }
}
