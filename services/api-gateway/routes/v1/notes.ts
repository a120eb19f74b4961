/** Feeds of notes of the open API (rules/memberships#notes). */
import { route, Type } from '#libs/contract';
import { directory, notesQuery } from '#services/directory';

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
      200: { description: 'One page, without notes about holons that are not visible to the caller.', schema: listNotesOfPerson.reply },
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
      200: { description: 'One page, without notes about holons that are not visible to the caller.', schema: listNotesOfHolon.reply },
    },
  }),
];
