/** Starts the reconciliation of bookings for operators (B1). */
import { requireOpsOperator } from '#libs/infrastructure/actor';
import { recordAudit } from '#libs/infrastructure/audit';
import type { ReplyOf, RequestOf } from '#libs/infrastructure/contract';
import { appError } from '#libs/infrastructure/errors';
import type { RequestContext } from '#libs/infrastructure/nats';
import { conversations } from '../contract.ts';
import type { Dependencies, Operations } from '../dependencies.ts';
import type { reconcileRpcs } from './contract.ts';

export function createReconcileHandlers(dependencies: Dependencies): Pick<Operations, 'reconcileBookings'> {
  return {
    reconcileBookings: (request, context) => reconcileBookings(dependencies, request, context),
  };
}

async function reconcileBookings(
  { config, jobs }: Dependencies,
  { since, dry_run: isDry = false }: RequestOf<typeof reconcileRpcs.reconcileBookings>,
  context: RequestContext,
): Promise<ReplyOf<typeof reconcileRpcs.reconcileBookings>> {
  requireOpsOperator(context.actor);
  if (config.CALCOM_API_KEY === '')
    throw appError('conflict', 'not_configured', 'CALCOM_API_KEY of the conversations service is not set.');
  const payload = { since: since ?? null, dry_run: isDry, daily: false };
  const { requestId, traceparent } = context;
  const jobId = await jobs.transaction(async (tx) => {
    if (!isDry) recordAudit(tx, context, { changes: { since: since ?? null } });
    return await jobs.enqueue(tx, conversations.jobs.bookingReconcile, payload, { requestId, traceparent });
  });
  return { job_id: jobId };
}
