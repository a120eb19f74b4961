/** Export and erasure of one person, for `people export` and `people erase` of the admin CLI. */
import { byOperators, nullable, rpc, Type } from '#libs/contract';
import { rowId } from '../api-objects/contract.ts';

/** Parts of an export. Each part is read page by page. */
export const personDataParts = [
  'person',
  'accounts',
  'memberships',
  'responsible-memberships',
  'responsible-relationships',
  'notes',
  'step-config-changes',
] as const;

const counts = Type.Record(Type.String(), Type.Integer({ minimum: 0 }), { description: 'Rows by kind.' });

export const personDataRpcs = {
  identifyPerson: rpc({
    subject: 'admin.directory.people.identify',
    callers: byOperators,
    summary: 'Finds a person by id, workspace key or email, also of merged people; by id also erased people.',
    request: Type.Object({
      who: Type.String({ minLength: 1, maxLength: 500 }),
      merged: Type.Optional(
        Type.Boolean({ description: 'Whether ids of merged people resolve to the surviving person.' }),
      ),
    }),
    reply: Type.Object({
      id: rowId,
      name: nullable(Type.String({ description: 'Null if the person was erased.' })),
      emails: Type.Array(Type.String(), { description: 'Of contact and accounts, as stored.' }),
      account_ids: Type.Array(rowId),
      digest: nullable(
        Type.String({
          description:
            'Distinguishes this person from a later one with the same id: SHA-256 of id and creation time. Null if the person was erased.',
        }),
      ),
      former: Type.Array(Type.Object({ person_id: rowId, digest: Type.String() }), {
        description:
          'Ids and digests of this person in earlier database states: of merged people, and of the surviving person before the merge.',
      }),
      telegram_user_ids: Type.Array(Type.Integer(), {
        description: 'Numeric values of `contact.telegram_user_id`, also of merged people.',
      }),
    }),
    errors: {
      person_not_found: { code: 'not_found', when: 'The person does not exist and was not erased.' },
      person_ambiguous: { code: 'conflict', when: 'Several people have that email; `person_ids` lists them.' },
    },
  }),
  exportPerson: rpc({
    subject: 'admin.directory.people.export',
    callers: byOperators,
    summary: "Exports one page of a part of a person's data. Excludes hashes of passwords and tokens.",
    request: Type.Object({
      person_id: rowId,
      part: Type.Enum(personDataParts),
      after: Type.Integer({ minimum: 0, description: '`next` of the previous page; 0 for the first.' }),
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
      'Deletes a person with accounts, memberships and notes, and records the erasure without personal data: the last step of an erasure. Repeatable.',
    request: Type.Object({
      person_id: rowId,
      operator: Type.String({ minLength: 1, maxLength: 200 }),
      dry_run: Type.Boolean(),
    }),
    reply: Type.Object({ counts }),
    errors: { person_merged: { code: 'conflict', when: 'The person was merged into another person meanwhile.' } },
    timeoutMs: 60_000,
  }),
} as const;
