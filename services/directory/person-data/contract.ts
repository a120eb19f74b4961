/** Finds people for operators, and exports the data of one person (rules/people#export-and-erasure; W1, W20). */
import { byUsers, nullable, rpc, Type } from '#libs/infrastructure/contract';
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

/** Chats to include that are not linked to the person: visitors of the chat page have no account. */
export const chatIds = {
  visitor_ids: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
      maxItems: 100,
      description: 'Also the chats of these visitors of the chat page.',
    }),
  ),
  telegram_user_ids: Type.Optional(
    Type.Array(Type.Integer({ minimum: 1 }), { maxItems: 100, description: 'Also the chats of these Telegram users.' }),
  ),
};

/** What an identifier of a person can be, in the order in which it is compared. */
const personIdentifiers = ['id', 'key', 'email', 'phone', 'name'] as const;

/** Maximum number of people with one identifier in a reply. */
export const maxNamesakes = 20;

const personIdentifier = {
  identifier: Type.String({
    minLength: 1,
    maxLength: 500,
    description: 'Id, workspace key, email, phone number or name. Numbers are ids or keys.',
  }),
};

export const personDataRpcs = {
  findPeople: rpc({
    subject: 'directory.operations.find-people',
    callers: byUsers,
    summary:
      'Finds people by one identifier for operators, also by identifiers of merged people; by id also erased people.',
    request: Type.Object(personIdentifier),
    reply: Type.Object({
      items: Type.Array(
        Type.Object({
          id: rowId,
          name: nullable(Type.String({ description: 'Null if the person was erased.' })),
          matched: Type.Enum([...personIdentifiers]),
          merged_id: nullable(
            Type.Integer({
              description: 'Former id, if the identifier belonged to a person who was merged into this one.',
            }),
          ),
        }),
        { maxItems: maxNamesakes, description: 'By id. All of them have the identifier in `matched`.' },
      ),
    }),
  }),
  exportPerson: rpc({
    subject: 'directory.people.export',
    callers: byUsers,
    summary:
      "Exports a person's data of all services, for superusers and the person (rules/people#export-and-erasure).",
    request: Type.Object({ person_id: anyId('Id of the person.'), ...chatIds }),
    reply: PersonExport,
    errors: {
      ...v1Errors.denied('The caller is neither a superuser nor the person, or names chats and is not a superuser.'),
      ...v1Errors.notFound('The person does not exist.'),
    },
    timeoutMs: 60_000,
  }),
} as const;
