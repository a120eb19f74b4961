/** Contract: the part of events in `people erase` of the admin CLI, and in merges. */
import { byOperators, withoutActor, rowId, rpc, Type } from '#libs/contract';

/** To be spread into the contract of the service. */
export const personDataRpcs = {
  erasePerson: rpc({
    subject: 'admin.events.people.erase',
    callers: byOperators,
    audit: 'person.erase',
    summary: 'Ends the webhook endpoints of the accounts of a person, and drops what was answered to them. Repeatable.',
    request: Type.Object({ person_id: rowId, account_ids: Type.Array(rowId, { maxItems: 10_000 }), dry_run: Type.Boolean() }),
    reply: Type.Object({ counts: Type.Object({ webhook_endpoints: Type.Integer() }) }),
    timeoutMs: 60_000,
  }),
  mergePerson: rpc({
    subject: 'events.people.merge',
    callers: { directory: withoutActor },
    summary:
      'Puts who stays in the place of who was merged, as who could read what is deleted (rules/people#merge-people; I3, V4). Repeatable.',
    request: Type.Object({ gone_id: rowId, into_id: rowId, after: Type.Integer({ minimum: 0 }) }),
    reply: Type.Object({ next: Type.Null() }),
    timeoutMs: 60_000,
  }),
} as const;
