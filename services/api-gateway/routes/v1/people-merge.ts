/** Two people who are one (rules/people#merge-people; I3, I5). */
import { route, Type } from '#libs/contract';
import { directory, mergeTarget } from '#services/directory';

const { mergePerson } = directory.rpcs;

export const peopleMergeRoutes = [
  route({
    method: 'POST',
    path: '/api/v1/people/{person_id}/merge',
    operationId: 'mergePerson',
    tag: 'people',
    summary: 'Merge a person into another',
    description:
      'For superusers. Everything that names the person of the path names the other one then: memberships, notes, conversations, what was said, ' +
      'accounts, bookings. What the other lacks in contact and description is filled in. The id of the path is not found any more.',
    auth: 'v1',
    scope: 'directory:write',
    params: Type.Object({ person_id: Type.Integer({ description: 'Id of the person who goes.' }) }),
    body: { schema: mergeTarget },
    rpc: mergePerson,
    deadlineMs: mergePerson.timeoutMs,
    replies: { 200: { description: 'The person who stays.', schema: mergePerson.reply } },
  }),
];
