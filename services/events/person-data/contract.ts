/** Contract for `people erase` and merges of people in this service. */
import { byOperators, withoutActor, rowId, rpc, Type } from '#libs/contract';

export const personDataRpcs = {
  erasePerson: rpc({
    subject: 'admin.events.people.erase',
    callers: byOperators,
    audit: 'person.erase',
    summary: 'Deletes webhook endpoints and idempotency records of the accounts of a person. Repeatable.',
    request: Type.Object({
      person_id: rowId,
      account_ids: Type.Array(rowId, { maxItems: 10_000 }),
      dry_run: Type.Boolean(),
    }),
    reply: Type.Object({ counts: Type.Object({ webhook_endpoints: Type.Integer() }) }),
    timeoutMs: 60_000,
  }),
  mergePerson: rpc({
    subject: 'events.people.merge',
    callers: { directory: withoutActor },
    summary:
      'Replaces the merged person by the surviving one in the stored access of conversations (rules/people#merge-people; I3, V4). Repeatable.',
    request: Type.Object({ gone_id: rowId, into_id: rowId, after: Type.Integer({ minimum: 0 }) }),
    reply: Type.Object({ next: Type.Null() }),
    timeoutMs: 60_000,
  }),
} as const;
