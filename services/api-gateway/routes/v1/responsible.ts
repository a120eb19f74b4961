/** The follow-up worklist of the open API (rules/memberships#worklist; D47a, D50). */
import { route } from '#libs/contract';
import { directory, worklistQuery } from '#services/directory';

const { listResponsible } = directory.rpcs;

export const responsibleRoutes = [
  route({
    method: 'GET',
    path: '/api/v1/responsible',
    operationId: 'listResponsible',
    tag: 'worklist',
    summary: 'List the follow-up worklist',
    description: 'Memberships and relationships ordered by `follow_up_after`, undated last, then by id.',
    auth: 'v1',
    scope: 'directory:read',
    query: worklistQuery,
    rpc: listResponsible,
    replies: { 200: { description: 'One page, limited to holons visible to the caller.', schema: listResponsible.reply } },
  }),
];
