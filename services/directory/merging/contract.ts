/** Operations that merge two people (rules/people#merge-people; I3, I5). */
import { byUsers, job, limitParameter, nullable, withoutActor, rpc, Type } from '#libs/infrastructure/contract';
import { anyId, PersonPublic, rowId, v1Errors } from '../api-objects/contract.ts';

export const mergeTarget = Type.Object(
  {
    into: Type.Integer({ description: 'Id of the surviving person.' }),
    dry_run: Type.Optional(Type.Boolean({ description: 'Return the result without changing anything.' })),
  },
  { $id: 'MergeTarget' },
);

const merge = Type.Object({ gone_id: rowId, into_id: rowId });
const counts = Type.Record(Type.String(), Type.Integer({ minimum: 0 }), { description: 'Moved rows by kind.' });

/** Fields whose values identify a person (D44). */
export const matchFields = ['contact.email', 'contact.linkedin'] as const;

/** Default page size of the duplicates. */
export const duplicatesPerPage = 50;

export const mergingRpcs = {
  mergePerson: rpc({
    subject: 'directory.people.merge',
    callers: byUsers,
    audit: 'person.merge',
    idempotent: true,
    summary: 'Merges a person into another, who receives all data of the first (rules/people#merge-people; I3).',
    request: Type.Object({
      person_id: anyId('Id of the person to merge; no longer exists afterwards.'),
      ...mergeTarget.properties,
    }),
    reply: Type.Object({ person: PersonPublic, counts }),
    errors: {
      ...v1Errors.validation('Both are the same person.'),
      ...v1Errors.denied('The caller is not a superuser.'),
      ...v1Errors.notFound('One of the people does not exist.'),
    },
    timeoutMs: 55_000,
  }),
  findMerged: rpc({
    subject: 'directory.people.find-merged',
    callers: { conversations: withoutActor },
    summary: 'Resolves ids of merged people to the surviving people (I5).',
    request: Type.Object({ ids: Type.Array(rowId, { maxItems: 1_000 }) }),
    reply: Type.Object({ items: Type.Array(Type.Object({ gone_id: rowId, into_id: rowId })) }),
  }),
  listDuplicates: rpc({
    subject: 'directory.operations.list-duplicates',
    callers: byUsers,
    summary: 'Lists people with the same email or LinkedIn address for operators, compared as on creation (D44).',
    request: Type.Object({
      limit: limitParameter({ usual: duplicatesPerPage, most: 200 }),
      cursor: Type.Optional(Type.String({ description: '`next` of the previous page.' })),
    }),
    reply: Type.Object({
      items: Type.Array(
        Type.Object(
          {
            match_field: Type.Enum([...matchFields]),
            match_value: Type.String({ description: 'Normalized value.' }),
            people: Type.Array(Type.Object({ id: rowId, name: Type.String() }), { description: 'By id.' }),
          },
          { $id: 'PossibleDuplicate' },
        ),
        { description: 'By field and value.' },
      ),
      next: nullable(Type.String({ description: '`cursor` of the next page; null at the end.' })),
    }),
    errors: { bad_cursor: { code: 'bad_request', when: 'The cursor is not valid for this list.' } },
    timeoutMs: 30_000,
  }),
} as const;

export const mergingJobs = {
  finishMerge: job({
    type: 'directory.finish-merge',
    summary: 'Moves data of a merged person in other services. Repeated after a delay, for concurrent writes.',
    payload: merge,
    policy: { maxAttempts: 50, timeoutMs: 600_000, concurrency: 1 },
  }),
} as const;
