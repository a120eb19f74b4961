/** Operations that merge two people (rules/people#merge-people; I3, I5). */
import { byOperators, byUsers, job, nullable, withoutActor, rpc, Type } from '#libs/contract';
import { anyId, PersonPublic, rowId, v1Errors } from '../api-objects/contract.ts';

export const mergeTarget = Type.Object(
  { into: Type.Integer({ description: 'Id of the surviving person.' }) },
  { $id: 'MergeTarget' },
);

const merge = Type.Object({ gone_id: rowId, into_id: rowId });
const counts = Type.Record(Type.String(), Type.Integer({ minimum: 0 }), { description: 'Moved rows by kind.' });

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
    reply: Type.Object({ person: PersonPublic }),
    errors: {
      ...v1Errors.validation('Both are the same person.'),
      ...v1Errors.denied('The caller is not a superuser.'),
      ...v1Errors.notFound('One of the people does not exist.'),
    },
    timeoutMs: 55_000,
  }),
  mergePeople: rpc({
    subject: 'admin.directory.people.merge-named',
    callers: byOperators,
    audit: 'person.merge',
    summary: 'Merges people for the CLI. Repeating it returns `done` and finishes an interrupted merge.',
    request: Type.Object({
      keep: Type.String({ maxLength: 500 }),
      gone: Type.String({ maxLength: 500 }),
      dry_run: Type.Boolean(),
    }),
    reply: Type.Object({
      outcome: Type.Enum(['merged', 'done', 'would_merge']),
      keep: Type.Object({ id: rowId, name: Type.String() }),
      gone: Type.Object({ id: rowId, name: nullable(Type.String()) }),
      counts,
    }),
    errors: {
      person_not_found: { code: 'not_found', when: 'No person has the id, key or email.' },
      person_ambiguous: { code: 'conflict', when: 'Several people have the email.' },
      same_person: { code: 'bad_request', when: 'Both are the same person.' },
    },
    timeoutMs: 120_000,
  }),
  findMerged: rpc({
    subject: 'directory.people.find-merged',
    callers: { conversations: withoutActor },
    summary: 'Resolves ids of merged people to the surviving people (I5).',
    request: Type.Object({ ids: Type.Array(rowId, { maxItems: 1_000 }) }),
    reply: Type.Object({ items: Type.Array(Type.Object({ gone_id: rowId, into_id: rowId })) }),
  }),
  listDuplicates: rpc({
    subject: 'admin.directory.people.list-duplicates',
    callers: byOperators,
    summary: 'Lists people with the same email or LinkedIn address, compared as on creation (D44).',
    request: Type.Object({
      after: Type.String({ maxLength: 4_000 }),
      limit: Type.Integer({ minimum: 1, maximum: 1_000 }),
    }),
    reply: Type.Object({
      items: Type.Array(
        Type.Object({
          match_field: Type.Enum(['contact.email', 'contact.linkedin']),
          match_value: Type.String({ description: 'Normalized value.' }),
          people: Type.Array(Type.Object({ id: rowId, name: Type.String() }), { description: 'By id.' }),
        }),
      ),
      next: nullable(Type.String({ description: 'For `after`.' })),
    }),
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
