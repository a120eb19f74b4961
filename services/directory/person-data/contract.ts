/** Everything of one person, to be handed out or removed: for `people export` and `people erase` of the admin CLI. */
import { byOperators, nullable, rpc, Type } from '#libs/contract';
import { rowId } from '../api-objects/contract.ts';

/** Lists of what the directory has of a person; each is read page by page. */
export const personDataParts = [
  'person',
  'accounts',
  'memberships',
  'responsible-memberships',
  'responsible-relationships',
  'notes',
  'step-config-changes',
] as const;

const counts = Type.Record(Type.String(), Type.Integer({ minimum: 0 }), { description: 'How many of what.' });

/** To be spread into the contract of the directory. */
export const personDataRpcs = {
  identifyPerson: rpc({
    subject: 'admin.directory.people.identify',
    callers: byOperators,
    summary:
      'The person behind an id, a key of the workspace file or an email, those of who was merged into them included; by id also one who was erased.',
    request: Type.Object({
      who: Type.String({ minLength: 1, maxLength: 500 }),
      merged: Type.Optional(Type.Boolean({ description: 'The id of somebody who was merged means who they are now.' })),
    }),
    reply: Type.Object({
      id: rowId,
      name: nullable(Type.String({ description: 'Null when the person was erased.' })),
      emails: Type.Array(Type.String(), { description: 'Of contact and accounts, as stored.' }),
      account_ids: Type.Array(rowId),
      digest: nullable(
        Type.String({
          description: 'Tells this person from another who has the id later: SHA-256 of id and creation. Null when the person was erased.',
        }),
      ),
      former: Type.Array(Type.Object({ person_id: rowId, digest: Type.String() }), {
        description:
          'Ids and digests that an earlier state of the database knows this person by: of who was merged, and of who stayed, before it.',
      }),
      telegram_user_ids: Type.Array(Type.Integer(), {
        description: 'Of `contact.telegram_user_id`, where it is a number, of who was merged into the person too.',
      }),
    }),
    errors: {
      person_not_found: { code: 'not_found', when: 'There is no such person, and none was erased.' },
      person_ambiguous: { code: 'conflict', when: 'Several people have that email; `person_ids` lists them.' },
    },
  }),
  exportPerson: rpc({
    subject: 'admin.directory.people.export',
    callers: byOperators,
    summary: 'One page of one part of what the directory has of a person. Hashes of passwords and tokens are never shown.',
    request: Type.Object({
      person_id: rowId,
      part: Type.Enum(personDataParts),
      after: Type.Integer({ minimum: 0, description: '`next` of the page before; 0 at first.' }),
    }),
    reply: Type.Object({ items: Type.Array(Type.Unknown()), next: nullable(Type.Integer()) }),
    timeoutMs: 60_000,
  }),
  suspendPerson: rpc({
    subject: 'admin.directory.people.suspend',
    callers: byOperators,
    audit: 'person.suspend',
    summary: 'Deactivates the accounts of a person and revokes their tokens: the first step of an erasure.',
    request: Type.Object({ person_id: rowId }),
    reply: Type.Object({ accounts: Type.Integer() }),
  }),
  erasePerson: rpc({
    subject: 'admin.directory.people.erase',
    callers: byOperators,
    audit: 'person.erase',
    summary:
      'Deletes a person with accounts, memberships and notes, and records that without personal data: the last step of an erasure. Repeatable.',
    request: Type.Object({ person_id: rowId, operator: Type.String({ minLength: 1, maxLength: 200 }), dry_run: Type.Boolean() }),
    reply: Type.Object({ counts }),
    errors: { person_merged: { code: 'conflict', when: 'The person was merged into somebody else meanwhile.' } },
    timeoutMs: 60_000,
  }),
} as const;
