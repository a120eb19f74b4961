/** Contract of personal data in conversations, for `people export`, `people erase` and merges of people. */
import { changeOrigin, withoutActor, rowId, rpc, Type } from '#libs/infrastructure/contract';

const after = Type.Integer({ minimum: 0, description: '`next` of the previous page; 0 for the first page.' });
const next = Type.Union([Type.Integer(), Type.Null()], {
  description: 'Cursor for `after`; null after the last page.',
});

export const personDataRpcs = {
  exportPerson: rpc({
    subject: 'conversations.people.export',
    callers: { directory: withoutActor },
    summary: "One page of a person's conversations: participation, room entries and notes. A page can be empty.",
    request: Type.Object({ person_id: rowId, after }),
    reply: Type.Object({ items: Type.Array(Type.Unknown()), next }),
    timeoutMs: 60_000,
  }),
  erasePerson: rpc({
    subject: 'conversations.people.erase',
    callers: { directory: withoutActor },
    audit: 'person.erase',
    summary:
      'Removes a person from one page of conversations and deletes conversations without other participants. Repeatable; the last page also clears webhook receipts that contain the person.',
    request: Type.Object({
      person_id: rowId,
      emails: Type.Array(Type.String({ minLength: 3 }), { description: 'All emails stored with the person.' }),
      name: Type.Union([Type.String({ minLength: 1 }), Type.Null()], {
        description: 'Name that notes can contain; null when unknown.',
      }),
      account_ids: Type.Optional(Type.Array(rowId, { maxItems: 10_000, description: 'Accounts of the person.' })),
      after,
      dry_run: Type.Boolean(),
      by: changeOrigin,
    }),
    reply: Type.Object({
      counts: Type.Object({
        conversations_deleted: Type.Integer(),
        conversations_left: Type.Integer(),
        notes_without_author: Type.Integer(),
        notes_without_name: Type.Integer(),
        webhook_receipts_emptied: Type.Integer(),
      }),
      next,
    }),
    timeoutMs: 60_000,
  }),
  mergePerson: rpc({
    subject: 'conversations.people.merge',
    callers: { directory: withoutActor },
    summary:
      'Replaces the merged person by the surviving one in one page of conversations (rules/people#merge-people; I3). Repeatable.',
    request: Type.Object({ gone_id: rowId, into_id: rowId, after }),
    reply: Type.Object({ next }),
    timeoutMs: 60_000,
  }),
} as const;
