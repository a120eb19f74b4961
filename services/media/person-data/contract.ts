/** Contract: who uploaded files, for `people erase` of the admin CLI, and merges. */
import { byOperators, withoutActor, rowId, rpc, Type } from '#libs/contract';

/** To be spread into the contract of the service. */
export const personDataRpcs = {
  erasePerson: rpc({
    subject: 'admin.media.people.erase',
    callers: byOperators,
    audit: 'person.erase',
    summary: 'Forgets that a person uploaded files. The files belong to their conversations and holons, and go with them. Repeatable.',
    request: Type.Object({ person_id: rowId, account_ids: Type.Array(rowId, { maxItems: 10_000 }), dry_run: Type.Boolean() }),
    reply: Type.Object({ counts: Type.Object({ uploads_without_author: Type.Integer() }) }),
    timeoutMs: 60_000,
  }),
  mergePerson: rpc({
    subject: 'media.people.merge',
    callers: { directory: withoutActor },
    summary: 'Puts who stays in the place of who was merged, as who uploaded files (rules/people#merge-people; I3). Repeatable.',
    request: Type.Object({ gone_id: rowId, into_id: rowId, after: Type.Integer({ minimum: 0 }) }),
    reply: Type.Object({ next: Type.Null() }),
    timeoutMs: 60_000,
  }),
} as const;
