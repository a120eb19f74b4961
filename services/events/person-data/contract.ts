/** Contract for export, erasure and merges of people in this service. */
import { changeOrigin, withoutActor, rowId, rpc, Type } from '#libs/infrastructure/contract';
import { WebhookEndpoint } from '../endpoints/contract.ts';

export const personDataRpcs = {
  exportPerson: rpc({
    subject: 'events.people.export',
    callers: { directory: withoutActor },
    summary: 'Lists the webhook endpoints of an account, newest first, without secrets.',
    request: Type.Object({ account_id: rowId }),
    reply: Type.Object({ items: Type.Array(WebhookEndpoint) }),
  }),
  erasePerson: rpc({
    subject: 'events.people.erase',
    callers: { directory: withoutActor },
    audit: 'person.erase',
    summary: 'Deletes webhook endpoints and idempotency records of the accounts of a person. Repeatable.',
    request: Type.Object({
      person_id: rowId,
      account_ids: Type.Array(rowId, { maxItems: 10_000 }),
      dry_run: Type.Boolean(),
      by: changeOrigin,
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
