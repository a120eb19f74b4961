/** Editing of holons (rules/holons#update-a-holon; D46a). */
import { route, Type } from '#libs/contract';
import { directory, holonUpdate } from '#services/directory';
import { ifMatch } from './if-match.ts';

export const holonUpdateRoutes = [
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
