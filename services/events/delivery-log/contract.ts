/** Contract of deliveries: what was sent to an endpoint, and what is to be sent again (rules/events#deliveries; V5 to V7, V11). */
import { byOperators, byUsers, limitParameter, nullable, rpc, Type, type ErrorReasons } from '#libs/contract';
import { DeliveryAttempt } from '../deliveries/contract.ts';
import { oneEndpoint } from '../endpoints/contract.ts';

export const deliveryStates = ['pending', 'delivered', 'failed'] as const;

const instant = (description: string) => Type.String({ format: 'date-time', description });
const uuid = Type.String({ format: 'uuid', description: 'Id of the delivery.' });

export const WebhookDelivery = Type.Object(
  {
    id: uuid,
    event_id: Type.String({ description: 'The event, and the `webhook-id` of each attempt.' }),
    status: Type.Enum([...deliveryStates], { description: '`pending`: it is sent, now or later; `failed`: no attempt is left.' }),
    attempts: Type.Array(DeliveryAttempt, { description: 'Oldest first; the newest fifty.' }),
    created_at: instant('When it was to be sent first.'),
    next_attempt_at: nullable(instant('Of one that is pending.')),
  },
  { $id: 'WebhookDelivery', description: 'An event on its way to an endpoint.' },
);
const one = Type.Object({ delivery: WebhookDelivery });

/** Deliveries of a page when the caller does not say. */
export const usualDeliveries = 50;
export const deliveryListQuery = Type.Object({
  status: Type.Optional(Type.Enum([...deliveryStates], { description: 'Only these.' })),
  limit: limitParameter({ usual: usualDeliveries, most: 200 }),
  cursor: Type.Optional(Type.String({ description: '`next` of the page before.' })),
});
export const recovery = Type.Object({
  since: Type.String({ format: 'date-time', description: 'What happened from then on is sent, as far as it was not delivered.' }),
});

const endpointId = { endpoint_id: Type.Integer({ description: 'Id of the endpoint.' }) };
const notFound = {
  not_found: { code: 'not_found', when: 'No endpoint has the id, or it is not of the caller.' },
} as const satisfies ErrorReasons;
const disabled = {
  endpoint_disabled: { code: 'conflict', when: 'The endpoint is disabled: enable it first.' },
} as const satisfies ErrorReasons;

const list = {
  request: Type.Object({ ...endpointId, ...deliveryListQuery.properties }),
  reply: Type.Object({
    items: Type.Array(WebhookDelivery, { description: 'Newest first.' }),
    next: nullable(Type.String({ description: '`cursor` of the next page; null = there is none.' })),
  }),
  errors: { ...notFound, bad_request: { code: 'bad_request', when: '`cursor` is of no list.' } },
} as const;
const redelivery = {
  request: Type.Object({ ...endpointId, delivery_id: Type.String({ description: 'Id of the delivery.' }) }),
  reply: one,
  errors: { ...disabled, not_found: { code: 'not_found', when: 'No endpoint or delivery has the id, or it is not of the caller.' } },
} as const;
const test = { request: Type.Object(endpointId), reply: one, errors: { ...notFound, ...disabled } } as const;
const recover = {
  request: Type.Object({ ...endpointId, ...recovery.properties }),
  reply: oneEndpoint,
  errors: { ...notFound, ...disabled },
} as const;

/** To be spread into the contract of the events service. */
export const deliveryRpcs = {
  listDeliveries: rpc({
    subject: 'events.deliveries.list',
    callers: byUsers,
    summary: 'Deliveries of an endpoint whose events its caller may read (V5, V10).',
    ...list,
  }),
  redeliver: rpc({
    subject: 'events.deliveries.redeliver',
    callers: byUsers,
    idempotent: true,
    audit: 'webhook-delivery.redeliver',
    summary: 'Sends an event again, delivered or not (V5).',
    ...redelivery,
  }),
  testEndpoint: rpc({
    subject: 'events.deliveries.test',
    callers: byUsers,
    idempotent: true,
    audit: 'webhook-endpoint.test',
    summary: 'Sends an event that is not in the feed (V5, V11).',
    ...test,
  }),
  recoverEndpoint: rpc({
    subject: 'events.deliveries.recover',
    callers: byUsers,
    idempotent: true,
    audit: 'webhook-endpoint.recover',
    summary: 'Sends what happened since a time and was not delivered (V5, V11).',
    ...recover,
  }),
  listAllDeliveries: rpc({
    subject: 'admin.events.deliveries.list-all',
    callers: byOperators,
    summary: 'Deliveries of an endpoint.',
    ...list,
  }),
  redeliverAny: rpc({
    subject: 'admin.events.deliveries.redeliver-any',
    callers: byOperators,
    audit: 'webhook-delivery.redeliver',
    summary: 'Sends an event again, delivered or not.',
    ...redelivery,
  }),
  testAnyEndpoint: rpc({
    subject: 'admin.events.deliveries.test-any',
    callers: byOperators,
    audit: 'webhook-endpoint.test',
    summary: 'Sends an event that is not in the feed to an endpoint.',
    ...test,
  }),
  recoverAnyEndpoint: rpc({
    subject: 'admin.events.deliveries.recover-any',
    callers: byOperators,
    audit: 'webhook-endpoint.recover',
    summary: 'Sends an endpoint what happened since a time and was not delivered.',
    ...recover,
  }),
} as const;
