/** Handlers for `people erase` and merges in this service. The feed contains no personal data (V1). */
import { onBehalfOf, recordAudit } from '#libs/infrastructure/audit';
import { removeRecordsOfPerson } from '#libs/infrastructure/idempotency';
import { type Handlers, rawJson } from '#libs/infrastructure/nats';
import { transactionOrDryRun } from '#libs/infrastructure/orm';
import type { events } from '../contract.ts';
import type { Dependencies } from '../dependencies.ts';
import { maxEndpoints } from '../endpoints/contract.ts';
import { listEndpoints, markDeletedOf } from '../endpoints/index.ts';
import type { personDataRpcs } from './contract.ts';
import { replaceParticipant } from './statements.ts';

type PersonDataHandlers = Pick<Handlers<typeof events>, keyof typeof personDataRpcs>;

export function createPersonDataHandlers({ db }: Pick<Dependencies, 'db'>): PersonDataHandlers {
  return {
    exportPerson: async ({ account_id: accountId }) =>
      rawJson((await listEndpoints(db, { ownerId: null, accountId, limit: maxEndpoints, offset: 0 })).body),
    erasePerson: async ({ person_id: personId, account_ids: accountIds, dry_run: dryRun, by }, context) => {
      const counts = await transactionOrDryRun(db, dryRun, async (tx) => {
        const removed = { webhook_endpoints: (await markDeletedOf(tx, { accountIds })).length };
        await removeRecordsOfPerson(tx, { personId, accountIds });
        if (removed.webhook_endpoints > 0)
          recordAudit(tx, onBehalfOf(context, by), { target: { type: 'person', id: personId }, changes: { removed } });
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
