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
      'For superusers. Moves memberships, notes, conversations, utterances, accounts and bookings to the target person. Missing contact data and ' +
      'description of the target are filled in. The id in the path returns 404 afterwards.',
    auth: 'v1',
    scope: 'directory:write',
    params: Type.Object({ person_id: Type.Integer({ description: 'Id of the person to merge into the target.' }) }),
    body: { schema: mergeTarget },
    rpc: mergePerson,
    deadlineMs: mergePerson.timeoutMs,
    replies: { 200: { description: 'The surviving person.', schema: mergePerson.reply } },
  }),
];
