/** Handlers for receipts of messaging updates, for the admin CLI (D20, D33b). */
import { describeBulkAct, type NewAuditEntry, recordAudit } from '#libs/audit';
import { AppError, notFound } from '#libs/errors';
import type { Jobs } from '#libs/jobs';
import { type CallContext, type Handlers, rawJson, type RequestContext } from '#libs/nats';
import type { Database, Tx } from '#libs/orm';
import {
  collectVisibleMatches,
  decodeBody,
  filterVisibleMatches,
  textFilterValues,
  webhookAdminHandlers,
} from '#libs/webhooks';
import type { agents } from '../contract.ts';
import type { Dependencies } from '../dependencies.ts';
import type { UpdateReceipt } from './contract.ts';
import { createReplay, type Replay } from './replay.ts';
import { findReceiptDetails, findReplayable, receiptSearch, renderReceipts } from './statements.ts';

type ReceiptHandlers = Pick<
  Handlers<typeof agents>,
  | 'listReceipts'
  | 'showReceipt'
  | 'replayReceipt'
  | 'replayReceipts'
  | 'listWebhooks'
  | 'showWebhook'
  | 'replayWebhooks'
>;

type StartReplay = (tx: Tx, context: CallContext) => Replay;

const defaultLimit = 100;

export function createReceiptHandlers({
  config,
  db,
  jobs,
}: Pick<Dependencies, 'config' | 'db' | 'jobs'>): ReceiptHandlers {
  const allowUnsigned = config.ALLOW_UNSIGNED_WEBHOOKS;
  const startReplay: StartReplay = (tx, context) => createReplay({ tx, jobs, allowUnsigned }, context);
  return {
    ...createWebhookHandlers(db, jobs, startReplay),
    listReceipts: async ({ limit = defaultLimit, outcome, since, until, text, before }) => {
      const filter = { outcome, since, until, ...textFilterValues(text), limit };
      const items = await collectVisibleMatches(
        { db, search: receiptSearch, q: text },
        { limit, before },
        async (cursor) => {
          const found = await renderReceipts(db, { ...filter, beforeAt: cursor?.at, beforeId: cursor?.id });
          return JSON.parse(found.json) as UpdateReceipt[];
        },
      );
      return { items };
    },
    showReceipt: async ({ id }) => {
      const row = await findReceiptDetails(db, { id });
      if (row === undefined) throw notFound();
      const { headers, body, sends, ...receipt } = row;
      const details = { ...receipt, body: body === null ? null : decodeBody(body) };
      return rawJson(`${JSON.stringify(details).slice(0, -1)},"headers":${headers},"sends":${sends}}`);
    },
    replayReceipt: ({ id }, context) =>
      jobs.transaction(async (tx) => {
        const { isReplayed, jobId } = await startReplay(tx, context)(id);
        if (isReplayed) recordAudit(tx, context, { target: { type: 'receipt', id } });
        return { id, job_id: jobId ?? null };
      }),
    replayReceipts: async ({ limit, dry_run: dryRun, outcome, since, until, text }, context) => {
      const found = await findReplayable(db, { outcome, since, until, ...textFilterValues(text), limit: limit + 1 });
      const rows = await filterVisibleMatches({ db, search: receiptSearch, q: text }, found.slice(0, limit));
      const stored = rows.filter((row) => row.has_body);
      const replayable = stored.filter((row) => !row.is_answered);
      const result = dryRun
        ? { ...noCounts, replayed: replayable.length }
        : await replayMany({ jobs, startReplay }, replayable, context, (counts) =>
            describeBulkAct(
              { filter: { outcome, since, until, text } },
              {
                matched: rows.length,
                changed: counts.replayed,
                failed: rows.length - replayable.length + failuresOf(counts),
              },
            ),
          );
      return {
        matched: rows.length,
        replayed: result.replayed,
        without_body: rows.length - stored.length + result.without_body,
        nothing_left: stored.length - replayable.length + result.nothing_left,
        no_agent: result.no_agent,
        more: found.length > limit || result.remaining > 0,
      };
    },
  };
}

/** Creates the handlers with which operators search webhooks (P4). */
function createWebhookHandlers(db: Database, jobs: Jobs<typeof agents>, startReplay: StartReplay) {
  return webhookAdminHandlers({
    db,
    search: receiptSearch,
    isDone: (outcome) => outcome === 'answered' || outcome === 'left_to_person',
    replay: async (receipts, context, describe) => {
      const outcome = (counts: typeof noCounts) => ({ changed: counts.replayed, failed: failuresOf(counts) });
      return outcome(await replayMany({ jobs, startReplay }, receipts, context, (counts) => describe(outcome(counts))));
    },
  });
}

/** Time reserved before the deadline. Receipts that are not replayed by then remain for the next call. */
const reserveMs = 5_000;
const noCounts = { replayed: 0, nothing_left: 0, without_body: 0, no_agent: 0, remaining: 0 };
const failuresOf = ({ no_agent: noAgent, without_body: withoutBody }: typeof noCounts): number => noAgent + withoutBody;

/** Replays receipts one by one until the deadline. The audit entry is written in the same transaction (A1). */
async function replayMany(
  { jobs, startReplay }: { readonly jobs: Jobs<typeof agents>; readonly startReplay: StartReplay },
  receipts: readonly { readonly id: number }[],
  context: RequestContext,
  describe: (counts: typeof noCounts) => NewAuditEntry,
): Promise<typeof noCounts> {
  return await jobs.transaction(async (tx) => {
    const counts = { ...noCounts, remaining: receipts.length };
    const replay = startReplay(tx, context);
    for (const { id } of receipts) {
      if (Date.now() > context.deadlineMs - reserveMs) break;
      counts[await tryReplay(replay, id)] += 1;
      counts.remaining -= 1;
    }
    if (counts.replayed > 0) recordAudit(tx, context, describe(counts));
    return counts;
  });
}

/** Replays one receipt. An error leaves the other receipts unaffected. */
async function tryReplay(
  replay: Replay,
  id: number,
): Promise<'replayed' | 'nothing_left' | 'without_body' | 'no_agent'> {
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
