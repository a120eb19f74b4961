/** Contract: personal data in conversations, for `people export`, `people erase` and merges. */
import { byOperators, withoutActor, rowId, rpc, Type } from '#libs/contract';

const after = Type.Integer({ minimum: 0, description: '`next` of the page before; 0 at first.' });
const next = Type.Union([Type.Integer(), Type.Null()], { description: 'For `after`; null after the last page.' });

export const personDataRpcs = {
  exportPerson: rpc({
    subject: 'admin.conversations.people.export',
    callers: byOperators,
    summary: "One page of a person's conversations: own participation, own entries of the room, own notes. A page may be empty.",
    request: Type.Object({ person_id: rowId, after }),
    reply: Type.Object({ items: Type.Array(Type.Unknown()), next }),
    timeoutMs: 60_000,
  }),
  erasePerson: rpc({
    subject: 'admin.conversations.people.erase',
    callers: byOperators,
    audit: 'person.erase',
    summary:
      'Takes a person out of one page of conversations and deletes those that were soleIds alone, with all that belongs to them. Repeatable; the last page also empties webhook receipts that name the person.',
    request: Type.Object({
      person_id: rowId,
      emails: Type.Array(Type.String({ minLength: 3 }), { description: 'As stored with the person, all of them.' }),
      name: Type.Union([Type.String({ minLength: 1 }), Type.Null()], {
        description: 'As it may stand in notes; null when it is not known any more.',
      }),
      after,
      dry_run: Type.Boolean(),
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
    summary: 'Puts who stays in the ordinal of who was merged, in one page of conversations (rules/people#merge-people; I3). Repeatable.',
    request: Type.Object({ gone_id: rowId, into_id: rowId, after }),
    reply: Type.Object({ next }),
    timeoutMs: 60_000,
  }),
} as const;
