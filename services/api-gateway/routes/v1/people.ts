/** People of the open API (rules/people#people). */
import { route, Type } from '#libs/contract';
import { directory, personListQuery, PersonPublic } from '#services/directory';

export const peopleRoutes = [
  route({
    method: 'GET',
    path: '/api/v1/people',
    operationId: 'listPeople',
    tag: 'people',
    summary: 'Search people by name',
    description: 'Timestamps refer to the person, not to memberships.',
    auth: 'v1',
    scope: 'directory:read',
    query: personListQuery,
    rpc: directory.rpcs.listPeople,
    replies: { 200: { description: 'A page of people.', schema: directory.rpcs.listPeople.reply } },
  }),
  route({
    method: 'GET',
    path: '/api/v1/people/{person_id}',
    operationId: 'getPerson',
    tag: 'people',
    summary: 'Read one person',
    auth: 'v1',
    scope: 'directory:read',
    params: Type.Object({ person_id: Type.Integer({ description: 'Id of the person.' }) }),
    rpc: directory.rpcs.getPerson,
    etag: true,
    replies: { 200: { description: 'The person.', schema: PersonPublic } },
    errors: { not_found: { code: 'not_found', when: 'The person does not exist.' } },
  }),
];
