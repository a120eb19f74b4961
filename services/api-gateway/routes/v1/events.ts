/** Event feed and webhook endpoints of the open API (rules/events; V3, V5, V11). */
import { route, Type } from '#libs/infrastructure/contract';
import {
  deliveryListQuery,
  endpointListQuery,
  endpointUpdate,
  eventPage,
  events,
  feedQuery,
  newEndpoint,
  recovery,
  secretRotation,
} from '#services/events';
import { ifMatch } from '../if-match.ts';

export const { readFeed } = events.rpcs;

export const eventRoutes = [
  route({
    method: 'GET',
    path: '/api/v1/events',
    operationId: 'listEvents',
    tag: 'events',
    summary: 'Follow the event feed',
    description:
      'Events in order, limited to objects that the caller can read. Store `next` and send it as `after` in the next request; with `wait` the request ' +
      'waits for new events. Every event is returned once; no event appears before a cursor later.',
    auth: 'v1',
    scope: 'events:read',
    query: feedQuery,
    rpc: readFeed,
    deadlineMs: readFeed.timeoutMs,
    replies: { 200: { description: 'A page of events.', schema: eventPage } },
    errors: {
      rate_limited: {
        code: 'rate_limited',
        when: 'The account already has `EVENTS_WAITING_PER_ACCOUNT` (20) waiting requests.',
      },
    },
  }),
];

const root = '/api/v1/webhook-endpoints';
const one = `${root}/{endpoint_id}`;
const id = { endpoint_id: Type.Integer({ description: 'Id of the endpoint.' }) };
const params = Type.Object(id);
const nothing = { schema: Type.Object({}), optional: true } as const;
const access = { auth: 'v1', scope: 'webhooks:write' } as const;
const { createEndpoint, listEndpoints, getEndpoint, updateEndpoint, deleteEndpoint, rotateEndpointSecret } =
  events.rpcs;
const { listDeliveries, redeliver, testEndpoint, recoverEndpoint } = events.rpcs;

export const webhookEndpointRoutes = [
  route({
    method: 'POST',
    path: root,
    operationId: 'createWebhookEndpoint',
    tag: 'endpoints',
    summary: 'Create a webhook endpoint',
    description:
      'New events that the account can read are sent to the URL, signed as defined by Standard Webhooks. The secret is returned only once. Store it. ' +
      'Receivers must return 2xx within 15 seconds and detect duplicates by `webhook-id`.',
    ...access,
    body: { schema: newEndpoint },
    rpc: createEndpoint,
    status: 201,
    replies: { 201: { description: 'The endpoint and its secret.', schema: createEndpoint.reply } },
  }),
  route({
    method: 'GET',
    path: root,
    operationId: 'listWebhookEndpoints',
    tag: 'endpoints',
    summary: 'List webhook endpoints',
    description: 'Superusers see the endpoints of all accounts, other callers their own.',
    ...access,
    query: endpointListQuery,
    rpc: listEndpoints,
    replies: { 200: { description: 'A page of endpoints.', schema: listEndpoints.reply } },
  }),
  route({
    method: 'GET',
    path: one,
    operationId: 'getWebhookEndpoint',
    tag: 'endpoints',
    summary: 'Read one webhook endpoint',
    ...access,
    params,
    etag: true,
    rpc: getEndpoint,
    replies: { 200: { description: 'The endpoint.', schema: getEndpoint.reply } },
  }),
  route({
    method: 'POST',
    path: `${one}/update`,
    operationId: 'updateWebhookEndpoint',
    tag: 'endpoints',
    summary: 'Change a webhook endpoint',
    description:
      'Changes the fields in the request. Disabling drops pending deliveries; after enabling, new events are sent.',
    ...access,
    params,
    headers: ifMatch('endpoint'),
    etag: true,
    body: { schema: endpointUpdate },
    rpc: updateEndpoint,
    toRequest: ({ params: path, headers, body }) => ({ ...body, ...path, if_match: headers['If-Match'] }),
    replies: { 200: { description: 'The updated endpoint.', schema: updateEndpoint.reply } },
  }),
  route({
    method: 'DELETE',
    path: one,
    operationId: 'deleteWebhookEndpoint',
    tag: 'endpoints',
    summary: 'Delete a webhook endpoint',
    description: 'Stops sending events and deletes the stored deliveries.',
    ...access,
    params,
    rpc: deleteEndpoint,
    status: 204,
    replies: { 204: { description: 'The endpoint is deleted.' } },
  }),
  route({
    method: 'POST',
    path: `${one}/rotate-secret`,
    operationId: 'rotateWebhookSecret',
    tag: 'endpoints',
    summary: 'Rotate the secret of a webhook endpoint',
    description:
      'The new secret is returned only once. Store it. Until the overlap ends, deliveries are signed with both secrets.',
    ...access,
    params,
    body: { schema: secretRotation, optional: true },
    rpc: rotateEndpointSecret,
    replies: { 200: { description: 'The endpoint and its new secret.', schema: rotateEndpointSecret.reply } },
  }),
  route({
    method: 'POST',
    path: `${one}/test`,
    operationId: 'testWebhookEndpoint',
    tag: 'endpoints',
    summary: 'Send a test event to a webhook endpoint',
    description:
      'Sends an event `webhook_endpoint.test` regardless of the types of the endpoint. It is signed like other events and is not in the feed.',
    ...access,
    params,
    body: nothing,
    rpc: testEndpoint,
    replies: { 200: { description: 'The pending delivery.', schema: testEndpoint.reply } },
  }),
  route({
    method: 'GET',
    path: `${one}/deliveries`,
    operationId: 'listWebhookDeliveries',
    tag: 'endpoints',
    summary: 'List deliveries of a webhook endpoint',
    description: 'Deliveries with their attempts, newest first, limited to events that the caller can read.',
    ...access,
    params,
    query: deliveryListQuery,
    rpc: listDeliveries,
    replies: { 200: { description: 'A page of deliveries.', schema: listDeliveries.reply } },
  }),
  route({
    method: 'POST',
    path: `${one}/deliveries/{delivery_id}/redeliver`,
    operationId: 'redeliverWebhook',
    tag: 'endpoints',
    summary: 'Redeliver an event',
    description: 'Sends the event again with the same `webhook-id`, even if it was delivered.',
    ...access,
    params: Type.Object({ ...id, delivery_id: Type.String({ description: 'Id of the delivery.' }) }),
    body: nothing,
    rpc: redeliver,
    replies: { 200: { description: 'The pending delivery.', schema: redeliver.reply } },
  }),
  route({
    method: 'POST',
    path: `${one}/recover`,
    operationId: 'recoverWebhookEndpoint',
    tag: 'endpoints',
    summary: 'Send undelivered events since a time',
    description:
      'Includes events from while the endpoint was disabled, within the retention of the feed and since the creation of the endpoint.',
    ...access,
    params,
    body: { schema: recovery },
    rpc: recoverEndpoint,
    replies: { 200: { description: 'The endpoint. The events are sent afterwards.', schema: recoverEndpoint.reply } },
  }),
];
