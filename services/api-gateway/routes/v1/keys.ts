/** Service keys of the open API (rules/access#service-keys; K5). */
import { route, Type } from '#libs/infrastructure/contract';
import { directory, keyListQuery, newKey, rotation } from '#services/directory';

const root = '/api/v1/keys';
const params = Type.Object({ key_id: Type.String({ description: 'Id of the key.' }) });
const { createKey, listKeys, getKey, rotateKey, revokeKey } = directory.rpcs;

export const keyRoutes = [
  route({
    method: 'POST',
    path: root,
    operationId: 'createKey',
    tag: 'keys',
    summary: 'Create a service key',
    description:
      'The token is returned only once. Store it. Superusers can create keys for every account, other callers for their own.',
    auth: 'v1',
    scope: 'keys:write',
    body: { schema: newKey },
    rpc: createKey,
    status: 201,
    replies: { 201: { description: 'The key and its token.', schema: createKey.reply } },
  }),
  route({
    method: 'GET',
    path: root,
    operationId: 'listKeys',
    tag: 'keys',
    summary: 'List service keys',
    description:
      'Superusers see the keys of all accounts, other callers their own. The list includes revoked and expired keys.',
    auth: 'v1',
    scope: 'keys:write',
    query: keyListQuery,
    rpc: listKeys,
    replies: { 200: { description: 'A page of keys.', schema: listKeys.reply } },
  }),
  route({
    method: 'GET',
    path: `${root}/{key_id}`,
    operationId: 'getKey',
    tag: 'keys',
    summary: 'Read one service key',
    auth: 'v1',
    scope: 'keys:write',
    params,
    rpc: getKey,
    etag: true,
    replies: { 200: { description: 'The key.', schema: getKey.reply } },
  }),
  route({
    method: 'POST',
    path: `${root}/{key_id}/rotate`,
    operationId: 'rotateKey',
    tag: 'keys',
    summary: 'Rotate the secret of a service key',
    description: 'The new token is returned only once. Store it. The old token is accepted until the overlap ends.',
    auth: 'v1',
    scope: 'keys:write',
    params,
    body: { schema: rotation, optional: true },
    rpc: rotateKey,
    replies: { 200: { description: 'The key and its new token.', schema: rotateKey.reply } },
  }),
  route({
    method: 'POST',
    path: `${root}/{key_id}/revoke`,
    operationId: 'revokeKey',
    tag: 'keys',
    summary: 'Revoke a service key',
    description:
      'Permanently revokes the key and all its secrets, effective immediately. Repeating the request changes nothing. The response lists the webhook endpoints created by the key; they remain.',
    auth: 'v1',
    scope: 'keys:write',
    params,
    body: { schema: Type.Object({}), optional: true },
    rpc: revokeKey,
    replies: { 200: { description: 'The revoked key.', schema: revokeKey.reply } },
  }),
];
