/** `people erase` of the admin CLI: the part of events. What the feed itself says names nobody (V1). */
import { recordAudit } from '#libs/audit';
import { removeRecordsOfPerson } from '#libs/idempotency';
import type { Handler } from '#libs/nats';
import { type Database, transactionOrDryRun } from '#libs/orm';
import { markDeletedOf } from '../endpoints/index.ts';
import type { personDataRpcs } from './contract.ts';
import { changeParticipant } from './statements.ts';

export function createErasePerson(db: Database): Handler<typeof personDataRpcs.erasePerson> {
  return async ({ person_id: personId, account_ids: accountIds, dry_run: dryRun }, context) => {
    const counts = await transactionOrDryRun(db, dryRun, async (tx) => {
      const removed = { webhook_endpoints: (await markDeletedOf(tx, { accountIds })).length };
      await removeRecordsOfPerson(tx, { personId, accountIds });
      if (removed.webhook_endpoints > 0) recordAudit(tx, context, { target: { type: 'person', id: personId }, changes: { removed } });
      return removed;
    });
    return { counts };
  };
}

/** Merges of people: the part of events. Of a conversation that is there its owner tells besides; of one that is deleted nobody does. */
export function createMergePerson(db: Database): Handler<typeof personDataRpcs.mergePerson> {
  return async ({ gone_id: goneId, into_id: intoId }) => {
    await changeParticipant(db, { goneId, intoId });
    return { next: null };
  };
}
