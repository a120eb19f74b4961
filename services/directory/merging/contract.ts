/** Two people who are one (rules/people#merge-people; I3, I5). */
import { byOperators, byUsers, job, nullable, withoutActor, rpc, Type } from '#libs/contract';
import { anyId, PersonPublic, rowId, v1Errors } from '../api-objects/contract.ts';

export const mergeTarget = Type.Object({ into: Type.Integer({ description: 'Id of the person who stays.' }) }, { $id: 'MergeTarget' });

const merge = Type.Object({ gone_id: rowId, into_id: rowId });
const counts = Type.Record(Type.String(), Type.Integer({ minimum: 0 }), { description: 'How many of what moved.' });

/** To be spread into the contract of the directory. */
export const mergingRpcs = {
  mergePerson: rpc({
    subject: 'directory.people.merge',
    callers: byUsers,
    audit: 'person.merge',
    idempotent: true,
    summary: 'Makes one person of two: everything of the first belongs to the second (rules/people#merge-people; I3).',
    request: Type.Object({ person_id: anyId('Id of the person who goes.'), ...mergeTarget.properties }),
    reply: Type.Object({ person: PersonPublic }),
    errors: {
      ...v1Errors.validation('Both are the same person.'),
      ...v1Errors.denied('The caller is no superuser.'),
      ...v1Errors.notFound('There is no such person, or nobody with the id `into`.'),
    },
    timeoutMs: 55_000,
  }),
  mergePeople: rpc({
    subject: 'admin.directory.people.merge-named',
    callers: byOperators,
    audit: 'person.merge',
    summary: 'As the operation of the open API, for the CLI: once more is `done`, and finishes what was broken off.',
    request: Type.Object({ keep: Type.String({ maxLength: 500 }), gone: Type.String({ maxLength: 500 }), dry_run: Type.Boolean() }),
    reply: Type.Object({
      outcome: Type.Enum(['merged', 'done', 'would_merge']),
      keep: Type.Object({ id: rowId, name: Type.String() }),
      gone: Type.Object({ id: rowId, name: nullable(Type.String()) }),
      counts,
    }),
    errors: {
      person_not_found: { code: 'not_found', when: 'Nobody has the id, key or email.' },
      person_ambiguous: { code: 'conflict', when: 'Several people have the email.' },
      same_person: { code: 'bad_request', when: 'Both name the same person.' },
    },
    timeoutMs: 120_000,
  }),
  findMerged: rpc({
    subject: 'directory.people.find-merged',
    callers: { conversations: withoutActor },
    summary: 'Who people are now that were merged: what still names them by their former id means who stays (I5).',
    request: Type.Object({ ids: Type.Array(rowId, { maxItems: 1_000 }) }),
    reply: Type.Object({ items: Type.Array(Type.Object({ gone_id: rowId, into_id: rowId })) }),
  }),
  listDuplicates: rpc({
    subject: 'admin.directory.people.list-duplicates',
    callers: byOperators,
    summary: 'People with one email or one LinkedIn address, compared as creations are (D44).',
    request: Type.Object({ after: Type.String({ maxLength: 4_000 }), limit: Type.Integer({ minimum: 1, maximum: 1_000 }) }),
    reply: Type.Object({
      items: Type.Array(
        Type.Object({
          match_field: Type.Enum(['contact.email', 'contact.linkedin']),
          match_value: Type.String({ description: 'As it is compared.' }),
          people: Type.Array(Type.Object({ id: rowId, name: Type.String() }), { description: 'By id.' }),
        }),
      ),
      next: nullable(Type.String({ description: 'For `after`.' })),
    }),
  }),
} as const;

/** To be spread into the contract of the directory. */
export const mergingJobs = {
  finishMerge: job({
    type: 'directory.finish-merge',
    summary: 'Moves what other services have of a person who was merged; once more a while later, for what was under way then.',
    payload: merge,
    policy: { maxAttempts: 50, timeoutMs: 600_000, concurrency: 1 },
  }),
} as const;
