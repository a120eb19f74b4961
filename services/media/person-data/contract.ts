/** Contract: who uploaded files, for `people erase` of the admin CLI. */
import { byOperators, rpc, Type } from '#libs/contract';

const id = Type.Integer({ minimum: 1, maximum: 2_147_483_647 });

/** To be spread into the contract of the service. */
export const personDataRpcs = {
  erasePerson: rpc({
    subject: 'admin.media.people.erase',
    callers: byOperators,
    summary: 'Forgets that a person uploaded files. The files belong to their conversations and holons, and go with them. Repeatable.',
    request: Type.Object({ person_id: id, account_ids: Type.Array(id, { maxItems: 100 }), dry_run: Type.Boolean() }),
    reply: Type.Object({ counts: Type.Object({ uploads_without_author: Type.Integer() }) }),
    timeoutMs: 60_000,
  }),
} as const;
