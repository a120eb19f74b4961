/** Relationships of the open API (rules/memberships#relationship-list; D46, D48). */
import { route, Type } from '#libs/contract';
import { directory, holonRelationshipsQuery, RelationshipUpdate } from '#services/directory';
import { ifMatch } from './if-match.ts';

const { listHolonRelationships, updateRelationship } = directory.rpcs;

export const relationshipRoutes = [
  route({
    method: 'GET',
    path: '/api/v1/holons/{holon_id}/relationships',
    operationId: 'listHolonRelationships',
    tag: 'relationships',
    summary: 'List the relationships of a holon',
    description: 'In both directions, ordered by journey name, name of the other holon and id.',
    auth: 'v1',
    scope: 'directory:read',
    params: Type.Object({ holon_id: Type.Integer({ description: 'Id of the holon.' }) }),
    query: holonRelationshipsQuery,
    rpc: listHolonRelationships,
    replies: { 200: { description: 'One page, limited to holons visible to the caller.', schema: listHolonRelationships.reply } },
  }),
  route({
    method: 'POST',
    path: '/api/v1/relationships/{relationship_id}/update',
    operationId: 'updateRelationship',
    tag: 'relationships',
    summary: 'Update a relationship, with a note',
    description: 'All changes of one request are applied together or not at all.',
    auth: 'v1',
    scope: 'directory:write',
    params: Type.Object({ relationship_id: Type.Integer({ description: 'Id of the relationship.' }) }),
    headers: ifMatch('relationship'),
    body: { schema: RelationshipUpdate },
    rpc: updateRelationship,
    toRequest: ({ params, headers, body }) => ({ ...body, ...params, if_match: headers['If-Match'] }),
    etag: true,
    replies: { 200: { description: 'The updated relationship, the note and the changes.', schema: updateRelationship.reply } },
  }),
];
