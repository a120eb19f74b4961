/** Operations of operators on booking and meeting webhooks (P4). A bulk replay runs in one audited transaction. */
import { recordAudit } from '#libs/infrastructure/audit';
import { webhookAdminHandlers } from '#libs/product/webhooks';
import { conversations } from '../contract.ts';
import type { Dependencies } from '../dependencies.ts';
import { receiptSearch } from './statements.ts';

export function createWebhookHandlers({ db, jobs }: Pick<Dependencies, 'db' | 'jobs'>) {
  return webhookAdminHandlers({
    db,
    search: receiptSearch,
    isDone: () => false,
    replay: (receipts, context, describe) =>
      jobs.transaction(async (tx) => {
        const jobIds: string[] = [];
        const { requestId } = context;
        for (const { id, kind } of receipts)
          jobIds.push(await jobs.enqueue(tx, jobOf(kind), { receipt_id: id }, { requestId }));
        const counts = { replayed: receipts.length, nothing_left: 0, without_body: 0, no_agent: 0, jobIds };
        recordAudit(tx, context, describe(counts));
        return counts;
      }),
  });
}

const { bookingEvent, meetingReport } = conversations.jobs;
const jobOf = (kind: string) => (kind === 'meeting' ? meetingReport : bookingEvent);
