/** Holons and experiences of the open API (rules/holons, rules/media#logo; D46a, D51, D51a). */
import { route, Type } from '#libs/infrastructure/contract';
import {
  directory,
  HolonDetail,
  HolonInUse,
  holonListQuery,
  holonUpdate,
  newExperience,
  newHolon,
} from '#services/directory';
import { mediaPaths } from '#services/media';
import { ifMatch } from '../if-match.ts';

const absent = {
  not_found: { code: 'not_found', when: 'The holon does not exist or is not visible to the caller.' },
} as const;

export const holonRoutes = [
  route({
    method: 'GET',
    path: '/api/v1/holons',
    operationId: 'listHolons',
    tag: 'holons',
    summary: 'Search holons',
    description:
      'At least one of `q` and `class` is required. Holons that are not visible to the caller are neither listed nor counted.',
    auth: 'v1',
    scope: 'directory:read',
    query: holonListQuery,
    rpc: directory.rpcs.listHolons,
    replies: { 200: { description: 'A page of holons.', schema: directory.rpcs.listHolons.reply } },
  }),
  route({
    method: 'GET',
    path: '/api/v1/holons/{holon_id}',
    operationId: 'getHolon',
    tag: 'holons',
    summary: 'Read one holon',
    auth: 'v1',
    scope: 'directory:read',
    params: Type.Object({ holon_id: Type.Integer({ description: 'Id of the holon.' }) }),
    rpc: directory.rpcs.getHolon,
    etag: true,
    replies: { 200: { description: 'The holon.', schema: HolonDetail } },
    errors: absent,
  }),
  route({
    method: 'GET',
    path: '/api/v1/holons/by-slug/{slug}',
    operationId: 'getHolonBySlug',
    tag: 'holons',
    summary: 'Read one holon by its slug',
    auth: 'v1',
    scope: 'directory:read',
    params: Type.Object({ slug: Type.String({ description: 'Slug of the holon.' }) }),
    rpc: directory.rpcs.getHolonBySlug,
    etag: true,
    replies: { 200: { description: 'The holon.', schema: HolonDetail } },
    errors: absent,
  }),
];

export const holonUpdateRoutes = [
  route({
    method: 'POST',
    path: '/api/v1/holons',
    operationId: 'createHolon',
    tag: 'holons',
    summary: 'Create a holon',
    description:
      'Requires global edit access, or edit rights on a parent whose class allows the class. A slug that is absent is made from the name.',
    auth: 'v1',
    scope: 'directory:write',
    body: { schema: newHolon },
    rpc: directory.rpcs.createHolon,
    status: 201,
    etag: true,
    replies: { 201: { description: 'The holon.', schema: directory.rpcs.createHolon.reply } },
  }),
  route({
    method: 'DELETE',
    path: '/api/v1/holons/{holon_id}',
    operationId: 'deleteHolon',
    tag: 'holons',
    summary: 'Delete a holon',
    description:
      'Requires the right to create the holon at its place. Its own notes, journeys and team authority are deleted too.',
    auth: 'v1',
    scope: 'directory:write',
    params: Type.Object({ holon_id: Type.Integer({ description: 'Id of the holon.' }) }),
    headers: ifMatch('holon'),
    rpc: directory.rpcs.deleteHolon,
    toRequest: ({ params, headers }) => ({ ...params, if_match: headers['If-Match'] }),
    status: 204,
    replies: {
      204: { description: 'The holon is deleted.' },
      409: { description: 'Other objects depend on the holon.', schema: HolonInUse },
    },
  }),
  route({
    method: 'POST',
    path: '/api/v1/holons/{holon_id}/update',
    operationId: 'updateHolon',
    tag: 'holons',
    summary: 'Edit fields of a holon',
    description: 'Changes the fields in the request, all of them or none.',
    auth: 'v1',
    scope: 'directory:write',
    params: Type.Object({ holon_id: Type.Integer({ description: 'Id of the holon.' }) }),
    headers: ifMatch('holon'),
    body: { schema: holonUpdate },
    rpc: directory.rpcs.updateHolon,
    toRequest: ({ params, headers, body }) => ({ ...body, ...params, if_match: headers['If-Match'] }),
    etag: true,
    replies: { 200: { description: 'The updated holon and the changes.', schema: directory.rpcs.updateHolon.reply } },
  }),
];

export const experienceRoutes = [
  route({
    method: 'POST',
    path: '/api/v1/experiences',
    operationId: 'createExperience',
    tag: 'experiences',
    summary: 'Create an experience',
    description: 'Creates a holon of an experience class below a holon whose class allows it.',
    auth: 'v1',
    scope: 'directory:write',
    body: { schema: newExperience },
    rpc: directory.rpcs.createExperience,
    status: 201,
    etag: true,
    replies: { 201: { description: 'The experience.', schema: directory.rpcs.createExperience.reply } },
  }),
  route({
    method: 'POST',
    path: '/api/v1/experiences/{experience_id}/logo',
    operationId: 'uploadExperienceLogo',
    tag: 'experiences',
    summary: 'Upload the logo of an experience',
    description:
      'Overrides the background image. The file type is detected from its bytes; metadata is removed. `logo_url` of the experience is the URL of the new ' +
      'logo, which needs no token. If the logo is rejected, the previous one remains.',
    auth: 'v1',
    scope: 'directory:write',
    params: Type.Object({ experience_id: Type.Integer({ description: 'Id of the experience.' }) }),
    upload: { part: 'logo', description: 'A jpeg, png, gif or webp image of at most 5 242 880 bytes.' },
    handler: 'media',
    idempotent: true,
    forwardTo: ({ params: { experience_id } }) => mediaPaths.holonLogo(experience_id),
    deadlineMs: 120_000,
    replies: {
      200: { description: 'The experience with its new logo.', schema: directory.rpcs.checkExperienceLogo.reply },
    },
    errors: {
      bad_request: {
        code: 'bad_request',
        when: 'The file is larger than 5 MB, is not an image of these types, or cannot be decoded.',
      },
      permission_denied: { code: 'permission_denied', when: 'The caller cannot edit the experience.' },
      not_found: { code: 'not_found', when: 'The experience does not exist or is not visible to the caller.' },
    },
  }),
];
