/** Handlers for `people erase` and merges in this service. The feed contains no personal data (V1). */
import { recordAudit } from '#libs/audit';
import { removeRecordsOfPerson } from '#libs/idempotency';
import type { Handlers } from '#libs/nats';
import { transactionOrDryRun } from '#libs/orm';
import type { events } from '../contract.ts';
import type { Dependencies } from '../dependencies.ts';
import { markDeletedOf } from '../endpoints/index.ts';
import type { personDataRpcs } from './contract.ts';
import { replaceParticipant } from './statements.ts';

type PersonDataHandlers = Pick<Handlers<typeof events>, keyof typeof personDataRpcs>;

export function createPersonDataHandlers({ db }: Pick<Dependencies, 'db'>): PersonDataHandlers {
  return {
    erasePerson: async ({ person_id: personId, account_ids: accountIds, dry_run: dryRun }, context) => {
      const counts = await transactionOrDryRun(db, dryRun, async (tx) => {
        const removed = { webhook_endpoints: (await markDeletedOf(tx, { accountIds })).length };
        await removeRecordsOfPerson(tx, { personId, accountIds });
        if (removed.webhook_endpoints > 0)
          recordAudit(tx, context, { target: { type: 'person', id: personId }, changes: { removed } });
        return removed;
      });
      return { counts };
    },
    // For existing conversations the owner also publishes the new access; for deleted conversations it does not.
    mergePerson: async ({ gone_id: removedId, into_id: intoId }) => {
      await replaceParticipant(db, { goneId: removedId, intoId });
      return { next: null };
    },
  };
}
