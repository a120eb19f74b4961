/** Memberships, relationships, notes and the worklist of the open API (rules/memberships; D45 to D50). */
import { route, Type } from '#libs/contract';
import {
  BulkAdd,
  directory,
  holonMembershipsQuery,
  holonRelationshipsQuery,
  MembershipUpdate,
  notesQuery,
  personMembershipsQuery,
  RelationshipUpdate,
  worklistQuery,
} from '#services/directory';
import { ifMatch } from '../if-match.ts';

const { listPersonMemberships, listHolonMemberships, updateMembership, bulkAddMemberships } = directory.rpcs;

export const membershipRoutes = [
  route({
    method: 'GET',
    path: '/api/v1/people/{person_id}/memberships',
    operationId: 'listPersonMemberships',
    tag: 'memberships',
    summary: 'List the memberships of a person',
    description: 'Ordered by journey name, holon name and id. Memberships have no creation time.',
    auth: 'v1',
    scope: 'directory:read',
    params: Type.Object({ person_id: Type.Integer({ description: 'Id of the person.' }) }),
    query: personMembershipsQuery,
    rpc: listPersonMemberships,
    replies: {
      200: { description: 'One page, limited to holons visible to the caller.', schema: listPersonMemberships.reply },
    },
  }),
  route({
    method: 'GET',
    path: '/api/v1/holons/{holon_id}/memberships',
    operationId: 'listHolonMemberships',
    tag: 'memberships',
    summary: 'List the memberships in a holon',
    auth: 'v1',
    scope: 'directory:read',
    params: Type.Object({ holon_id: Type.Integer({ description: 'Id of the holon.' }) }),
    query: holonMembershipsQuery,
    rpc: listHolonMemberships,
    replies: { 200: { description: 'One page.', schema: listHolonMemberships.reply } },
  }),
  route({
    method: 'POST',
    path: '/api/v1/memberships/{membership_id}/update',
    operationId: 'updateMembership',
    tag: 'memberships',
    summary: 'Update a membership, with a note',
    description:
      'All changes of one request are applied together or not at all. This is the only way to move a membership to another journey.',
    auth: 'v1',
    scope: 'directory:write',
    params: Type.Object({ membership_id: Type.Integer({ description: 'Id of the membership.' }) }),
    headers: ifMatch('membership'),
    body: { schema: MembershipUpdate },
    rpc: updateMembership,
    toRequest: ({ params, headers, body }) => ({ ...body, ...params, if_match: headers['If-Match'] }),
    etag: true,
    replies: {
      200: { description: 'The updated membership, the note and the changes.', schema: updateMembership.reply },
    },
  }),
  route({
    method: 'POST',
    path: '/api/v1/holons/{holon_id}/memberships:bulk-add',
    operationId: 'bulkAddMemberships',
    tag: 'memberships',
    summary: 'Add up to 500 memberships to a holon',
    description:
      'Each item has an outcome of its own; items that fail do not stop the others. The request can be repeated: existing memberships have the outcome ' +
      '`already_present`. Bulk writes of one holon run in sequence.',
    auth: 'v1',
    scope: 'directory:write',
    params: Type.Object({ holon_id: Type.Integer({ description: 'Id of the holon.' }) }),
    body: { schema: BulkAdd },
    rpc: bulkAddMemberships,
    deadlineMs: bulkAddMemberships.timeoutMs,
    replies: { 200: { description: 'The outcome of every item.', schema: bulkAddMemberships.reply } },
  }),
];

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
    replies: {
      200: { description: 'One page, limited to holons visible to the caller.', schema: listHolonRelationships.reply },
    },
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
    replies: {
      200: { description: 'The updated relationship, the note and the changes.', schema: updateRelationship.reply },
    },
  }),
];

const { listNotesOfPerson, listNotesOfHolon } = directory.rpcs;

export const noteRoutes = [
  route({
    method: 'GET',
    path: '/api/v1/people/{person_id}/notes',
    operationId: 'listNotesOfPerson',
    tag: 'notes',
    summary: 'List the notes of a person',
    description: 'Notes on the person and their memberships, newest first.',
    auth: 'v1',
    scope: 'directory:read',
    params: Type.Object({ person_id: Type.Integer({ description: 'Id of the person.' }) }),
    query: notesQuery,
    rpc: listNotesOfPerson,
    replies: {
      200: {
        description: 'One page, without notes about holons that are not visible to the caller.',
        schema: listNotesOfPerson.reply,
      },
    },
  }),
  route({
    method: 'GET',
    path: '/api/v1/holons/{holon_id}/notes',
    operationId: 'listNotesOfHolon',
    tag: 'notes',
    summary: 'List the notes of a holon',
    description: 'Notes on the holon itself, its memberships and its relationships, newest first.',
    auth: 'v1',
    scope: 'directory:read',
    params: Type.Object({ holon_id: Type.Integer({ description: 'Id of the holon.' }) }),
    query: notesQuery,
    rpc: listNotesOfHolon,
    replies: {
      200: {
        description: 'One page, without notes about holons that are not visible to the caller.',
        schema: listNotesOfHolon.reply,
      },
    },
  }),
];

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
    replies: {
      200: { description: 'One page, limited to holons visible to the caller.', schema: listResponsible.reply },
    },
  }),
];
