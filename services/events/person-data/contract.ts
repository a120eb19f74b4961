/** Contract: the part of events in `people erase` of the admin CLI. */
import { byOperators, rowId, rpc, Type } from '#libs/contract';

/** To be spread into the contract of the service. */
export const personDataRpcs = {
  erasePerson: rpc({
    subject: 'admin.events.people.erase',
    callers: byOperators,
    audit: 'person.erase',
    summary: 'Ends the webhook endpoints of the accounts of a person, and drops what was answered to them. Repeatable.',
    request: Type.Object({ person_id: rowId, account_ids: Type.Array(rowId, { maxItems: 100 }), dry_run: Type.Boolean() }),
    reply: Type.Object({ counts: Type.Object({ webhook_endpoints: Type.Integer() }) }),
    timeoutMs: 60_000,
  }),
} as const;
