/** Changes the uploaders of files when people are erased or merged (I3). */
import { onBehalfOf, recordAudit } from '#libs/infrastructure/audit';
import { removeRecordsOfPerson } from '#libs/infrastructure/idempotency';
import type { HandlersOf } from '#libs/infrastructure/nats';
import type { Dependencies } from '../dependencies.ts';
import type { personDataRpcs } from './contract.ts';
import { changeUploader, clearUploader, countUploads } from './statements.ts';

export function createPersonDataHandlers({ db }: Pick<Dependencies, 'db'>): HandlersOf<typeof personDataRpcs> {
  return {
    erasePerson: async ({ person_id: personId, account_ids: accountIds, dry_run: dryRun, by }, context) => {
      if (dryRun)
        return { counts: { uploads_without_author: (await countUploads(db, { personId, accountIds })).count } };
      const counts = await db.transaction(async (tx) => {
        await removeRecordsOfPerson(tx, { personId, accountIds });
        const removed = { uploads_without_author: (await clearUploader(tx, { personId, accountIds })).length };
        if (removed.uploads_without_author > 0) {
          recordAudit(tx, onBehalfOf(context, by), { target: { type: 'person', id: personId }, changes: { removed } });
        }
        return removed;
      });
      return { counts };
    },
    mergePerson: async ({ gone_id: mergedId, into_id: survivingId }) => {
      await changeUploader(db, { mergedId, survivingId });
      return { next: null };
    },
  };
}
