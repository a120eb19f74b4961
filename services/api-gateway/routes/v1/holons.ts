/** Holons of the open API (rules/holons#holons). */
import { route, Type } from '#libs/contract';
import { directory, holonListQuery, HolonPublic } from '#services/directory';

const absent = { not_found: { code: 'not_found', when: 'The holon does not exist or is not visible to the caller.' } } as const;

export const holonRoutes = [
  route({
    method: 'GET',
    path: '/api/v1/holons',
    operationId: 'listHolons',
    tag: 'holons',
    summary: 'Search holons',
    description: 'At least one of `q` and `class` is required. Holons that are not visible to the caller are neither listed nor counted.',
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
    replies: { 200: { description: 'The holon.', schema: HolonPublic } },
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
    replies: { 200: { description: 'The holon.', schema: HolonPublic } },
    errors: absent,
  }),
];
