/** `people erase` of the admin CLI: the part of media. */
import type { Handler } from '#libs/nats';
import type { Database } from '#libs/orm';
import type { personDataRpcs } from './contract.ts';
import { countUploads, forgetUploader } from './statements.ts';

export function createErasePerson(db: Database): Handler<typeof personDataRpcs.erasePerson> {
  return async ({ person_id: personId, account_ids: accountIds, dry_run: dryRun }) => {
    if (!dryRun) return { counts: { uploads_without_author: (await forgetUploader(db, { personId, accountIds })).length } };
    const { count } = await countUploads(db, { personId, accountIds });
    return { counts: { uploads_without_author: count } };
  };
}
