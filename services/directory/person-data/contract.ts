/** Export of one person, over HTTP and for `people export` of the admin CLI (rules/people#export-and-erasure; W1, W20). */
import { byOperators, byUsers, nullable, rpc, Type } from '#libs/contract';
import { anyId, rowId, v1Errors } from '../api-objects/contract.ts';

/** Parts of an export that are stored in this service. */
export const personDataParts = [
  'person',
  'accounts',
  'memberships',
  'responsible-memberships',
  'responsible-relationships',
  'notes',
  'step-config-changes',
] as const;

/** Parts of an export in order: names of the files in the archive of `people export`. */
export const exportParts = [
  ...personDataParts,
  'conversations',
  'files',
  'transcript',
  'agents',
  'webhook-endpoints',
] as const;

const part = Type.Array(Type.Unknown());
const PersonExport = Type.Object(
  Object.fromEntries(exportParts.map((name) => [name, part])) as Record<(typeof exportParts)[number], typeof part>,
  { $id: 'PersonExport', description: "A person's data by part, as in the archive of `people export`." },
);

/** Identifiers that an operator passes, since visitors of the chat page have no account. */
export const chatIds = {
  visitor_ids: Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { maxItems: 100 }),
  telegram_user_ids: Type.Array(Type.Integer({ minimum: 1 }), { maxItems: 100 }),
};

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
    subject: 'directory.people.export',
    callers: byUsers,
    summary:
      "Exports a person's data of all services, for superusers and the person (rules/people#export-and-erasure).",
    request: Type.Object({ person_id: anyId('Id of the person.') }),
    reply: PersonExport,
    errors: {
      ...v1Errors.denied('The caller is neither a superuser nor the person.'),
      ...v1Errors.notFound('The person does not exist.'),
    },
    timeoutMs: 60_000,
  }),
  exportPersonPart: rpc({
    subject: 'admin.directory.people.export-part',
    callers: byOperators,
    summary: "Exports one page of a part of a person's data. Excludes hashes of passwords and tokens.",
    request: Type.Object({
      person_id: rowId,
      ...chatIds,
      part: Type.Enum([...exportParts]),
      after: nullable(Type.String({ maxLength: 100, description: '`next` of the previous page; null for the first.' })),
    }),
    reply: Type.Object({ items: Type.Array(Type.Unknown()), next: nullable(Type.String()) }),
    timeoutMs: 60_000,
  }),
} as const;
