/** `people erase` of the admin CLI: the part of media. */
import { recordAudit } from '#libs/audit';
import { removeRecordsOfPerson } from '#libs/idempotency';
import type { Handler } from '#libs/nats';
import type { Database } from '#libs/orm';
import type { personDataRpcs } from './contract.ts';
import { changeUploader, countUploads, forgetUploader } from './statements.ts';

export function createErasePerson(db: Database): Handler<typeof personDataRpcs.erasePerson> {
  return async ({ person_id: personId, account_ids: accountIds, dry_run: dryRun }, context) => {
    if (dryRun) return { counts: { uploads_without_author: (await countUploads(db, { personId, accountIds })).count } };
    const counts = await db.transaction(async (tx) => {
      await removeRecordsOfPerson(tx, { personId, accountIds });
      const removed = { uploads_without_author: (await forgetUploader(tx, { personId, accountIds })).length };
      if (removed.uploads_without_author > 0) recordAudit(tx, context, { target: { type: 'person', id: personId }, changes: { removed } });
      return removed;
    });
    return { counts };
  };
}

/** Merges of people: the part of media (I3). */
export function createMergePerson(db: Database): Handler<typeof personDataRpcs.mergePerson> {
  return async ({ gone_id: goneId, into_id: intoId }) => {
    await changeUploader(db, { goneId, intoId });
    return { next: null };
  };
}
