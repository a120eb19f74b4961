/** Operations of operators on messaging updates (P4, D33b). */
import { type NewAuditEntry, recordAudit } from '#libs/infrastructure/audit';
import { AppError } from '#libs/infrastructure/errors';
import type { RequestContext } from '#libs/infrastructure/nats';
import { type ReplayCounts, webhookAdminHandlers } from '#libs/product/webhooks';
import type { Dependencies } from '../dependencies.ts';
import { createReplay, type Replay } from './replay.ts';
import { receiptSearch } from './statements.ts';

type ReplayDependencies = Pick<Dependencies, 'config' | 'jobs'>;

export function createReceiptHandlers({ config, db, jobs }: Pick<Dependencies, 'config' | 'db' | 'jobs'>) {
  return webhookAdminHandlers({
    db,
    search: receiptSearch,
    isDone: (outcome) => outcome === 'answered' || outcome === 'left_to_person',
    replay: (receipts, context, describe) => replayMany({ config, jobs }, receipts, context, describe),
  });
}

/** Time reserved before the deadline. Receipts that are not replayed by then remain for the next call. */
const reserveMs = 5_000;

/** Replays receipts one by one until the deadline. The audit entry is written in the same transaction (A1). */
async function replayMany(
  { config, jobs }: ReplayDependencies,
  receipts: readonly { readonly id: number }[],
  context: RequestContext,
  describe: (counts: ReplayCounts) => NewAuditEntry,
): Promise<ReplayCounts> {
  return await jobs.transaction(async (tx) => {
    const jobIds: string[] = [];
    const counts = { replayed: 0, nothing_left: 0, without_body: 0, no_agent: 0, jobIds };
    const replay = createReplay({ tx, jobs, allowUnsigned: config.ALLOW_UNSIGNED_WEBHOOKS }, context);
    for (const { id } of receipts) {
      if (Date.now() > context.deadlineMs - reserveMs) break;
      const { outcome, jobId } = await tryReplay(replay, id);
      counts[outcome] += 1;
      if (jobId !== undefined) jobIds.push(jobId);
    }
    if (counts.replayed > 0) recordAudit(tx, context, describe(counts));
    return counts;
  });
}

/** Replays one receipt. An error leaves the other receipts unaffected. */
async function tryReplay(
  replay: Replay,
  id: number,
): Promise<{ readonly outcome: Exclude<keyof ReplayCounts, 'jobIds'>; readonly jobId?: string | undefined }> {
  try {
    const { isReplayed, jobId } = await replay(id);
    return { outcome: isReplayed ? 'replayed' : 'nothing_left', jobId };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (error.reason === 'agent_not_found' || error.reason === 'agent_without_secret') return { outcome: 'no_agent' };
    if (error.reason === 'receipt_without_body') return { outcome: 'without_body' };
    if (error.code === 'not_found') return { outcome: 'nothing_left' };
    throw error;
  }
}
