/** Spheres of the open API (W15). */
import { route, Type } from '#libs/infrastructure/contract';
import { directory, newSphere, sphereListQuery, sphereUpdate } from '#services/directory';
import { ifMatch } from '../if-match.ts';

const { listSpheres, createSphere, updateSphere } = directory.rpcs;

export const sphereRoutes = [
  route({
    method: 'GET',
    path: '/api/v1/spheres',
    operationId: 'listSpheres',
    tag: 'spheres',
    summary: 'List the active spheres',
    description: 'In the order of their creation.',
    auth: 'v1',
    scope: 'workspace:read',
    query: sphereListQuery,
    rpc: listSpheres,
    replies: { 200: { description: 'A page of spheres.', schema: listSpheres.reply } },
  }),
  route({
    method: 'POST',
    path: '/api/v1/spheres',
    operationId: 'createSphere',
    tag: 'spheres',
    summary: 'Create a sphere',
    description: 'For superusers and members of `workspace_editors`.',
    auth: 'v1',
    scope: 'workspace:write',
    body: { schema: newSphere },
    rpc: createSphere,
    status: 201,
    etag: true,
    replies: { 201: { description: 'The sphere.', schema: createSphere.reply } },
  }),
  route({
    method: 'POST',
    path: '/api/v1/spheres/{sphere_id}/update',
    operationId: 'updateSphere',
    tag: 'spheres',
    summary: 'Update a sphere',
    description: 'For superusers and members of `workspace_editors`. Holons keep retired spheres.',
    auth: 'v1',
    scope: 'workspace:write',
    params: Type.Object({ sphere_id: Type.Integer({ description: 'Id of the sphere.' }) }),
    headers: ifMatch('sphere'),
    body: { schema: sphereUpdate },
    rpc: updateSphere,
    toRequest: ({ params, headers, body }) => ({ ...body, ...params, if_match: headers['If-Match'] }),
    etag: true,
    replies: { 200: { description: 'The updated sphere and the changes.', schema: updateSphere.reply } },
  }),
];
