/** Search and people of the open API (rules/people; D42 to D44, I3, I5). */
import { route, Type } from '#libs/infrastructure/contract';
import {
  chatIds,
  directory,
  DuplicatePerson,
  mergeTarget,
  erasurePreview,
  newErasure,
  newPerson,
  personListQuery,
  personUpdate,
  PersonPublic,
  searchQuery,
  startedErasure,
} from '#services/directory';
import { ifMatch } from '../if-match.ts';

export const searchV1Routes = [
  route({
    method: 'GET',
    path: '/api/v1/search',
    operationId: 'searchDirectory',
    tag: 'search',
    summary: 'Search people and holons',
    description:
      'Best first: the exact name, the start of the name, the start of a word in it, any part of it. Contact values of people and link values of ' +
      'holons rank like names; matches in the description only rank last. Equal ranks are ordered by name and id.',
    auth: 'v1',
    scope: 'directory:read',
    query: searchQuery,
    rpc: directory.rpcs.searchDirectory,
    replies: {
      200: {
        description: 'The best results of each kind, ranked together.',
        schema: directory.rpcs.searchDirectory.reply,
      },
    },
  }),
];

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

export const peopleWriteRoutes = [
  route({
    method: 'POST',
    path: '/api/v1/people',
    operationId: 'createPerson',
    tag: 'people',
    summary: 'Create a person',
    description:
      'Requires global edit access. With a membership, the note is listed for person and holon; otherwise for the person only. ' +
      'All objects are created in one transaction.',
    auth: 'v1',
    scope: 'directory:write',
    body: { schema: newPerson },
    rpc: directory.rpcs.createPerson,
    etag: true,
    status: 201,
    replies: {
      201: {
        description: 'The person, and the created membership and note.',
        schema: directory.rpcs.createPerson.reply,
      },
      409: { description: 'Another person has the same email or LinkedIn address.', schema: DuplicatePerson },
    },
  }),
  route({
    method: 'POST',
    path: '/api/v1/people/{person_id}/update',
    operationId: 'updatePerson',
    tag: 'people',
    summary: 'Update a person',
    description:
      'For global editors and the person of the account. Changes the fields in the request, all of them or none. `contact` is merged per channel.',
    auth: 'v1',
    scope: 'directory:write',
    params: Type.Object({ person_id: Type.Integer({ description: 'Id of the person.' }) }),
    headers: ifMatch('person'),
    body: { schema: personUpdate },
    rpc: directory.rpcs.updatePerson,
    toRequest: ({ params, headers, body }) => ({ ...body, ...params, if_match: headers['If-Match'] }),
    etag: true,
    replies: {
      200: { description: 'The updated person and the changes.', schema: directory.rpcs.updatePerson.reply },
      409: { description: 'Another person has the same email or LinkedIn address.', schema: DuplicatePerson },
    },
  }),
];

const { erasePerson, exportPerson, getErasure } = directory.rpcs;
const personId = Type.Object({ person_id: Type.Integer({ description: 'Id of the person.' }) });
const exportQuery = Type.Object(chatIds);

export const personDataRoutes = [
  route({
    method: 'GET',
    path: '/api/v1/people/{person_id}/export',
    operationId: 'exportPerson',
    tag: 'people',
    summary: 'Export all data of a person',
    description:
      'For superusers and the person of the account. Contains no hashes of passwords and tokens. Superusers can add chats of the chat page and of ' +
      'Telegram by their ids.',
    auth: 'v1',
    scope: 'directory:write',
    params: personId,
    query: exportQuery,
    rpc: exportPerson,
    deadlineMs: exportPerson.timeoutMs,
    etag: true,
    replies: { 200: { description: 'The data by part.', schema: exportPerson.reply } },
  }),
  route({
    method: 'POST',
    path: '/api/v1/people/{person_id}/erase',
    operationId: 'erasePerson',
    tag: 'people',
    summary: 'Erase a person',
    description:
      'For superusers. Closes the accounts of the person at once, and removes the person from every service in the background. Cannot be undone. A ' +
      'repeated request resumes an erasure that failed.',
    auth: 'v1',
    scope: 'directory:write',
    params: personId,
    headers: ifMatch('person'),
    body: { schema: newErasure },
    rpc: erasePerson,
    toRequest: ({ params, headers, body }) => ({ ...body, ...params, if_match: headers['If-Match'] }),
    deadlineMs: erasePerson.timeoutMs,
    status: 202,
    outcomes: { counted: 200 },
    replies: {
      200: { description: 'With `dry_run`: what the erasure would remove.', schema: erasurePreview },
      202: { description: 'The erasure has started.', schema: startedErasure },
    },
  }),
  route({
    method: 'GET',
    path: '/api/v1/people/{person_id}/erasure',
    operationId: 'getPersonErasure',
    tag: 'people',
    summary: 'Read the erasure of a person',
    description: 'For superusers, also when the person no longer exists, for 30 days after the end of the erasure.',
    auth: 'v1',
    scope: 'directory:write',
    params: personId,
    rpc: getErasure,
    etag: true,
    replies: { 200: { description: 'The latest erasure of the person.', schema: getErasure.reply } },
  }),
];

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
    replies: {
      200: { description: 'The surviving person, and the numbers of moved rows.', schema: mergePerson.reply },
    },
  }),
];
