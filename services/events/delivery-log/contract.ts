/** Contract of deliveries: list, redelivery, test and recovery (rules/events#deliveries; V5 to V7, V11). */
import {
  byUsers,
  type ErrorReasons,
  limitParameter,
  nullable,
  rpc,
  type Static,
  Type,
} from '#libs/infrastructure/contract';
import { oneEndpoint } from '../endpoints/contract.ts';

export const deliveryStates = ['pending', 'delivered', 'failed'] as const;

const instant = (description: string) => Type.String({ format: 'date-time', description });
const uuid = Type.String({ format: 'uuid', description: 'Id of the delivery.' });

/** Reasons why an attempt failed. `status`: the status of the response is not 2xx. */
export const attemptErrors = [
  'timeout',
  'connection_failed',
  'connection_broken',
  'forbidden_address',
  'redirect',
  'status',
] as const;

/** One attempt to deliver an event to an endpoint (V6). */
export const DeliveryAttempt = Type.Object({
  at: instant('Start of the attempt.'),
  status_code: nullable(Type.Integer({ description: 'Status of the response; null = no response.' })),
  error: nullable(
    Type.Enum([...attemptErrors], {
      description:
        'Reason of the failure; null = delivered. `forbidden_address`: the address is private or not `https`, and WEBHOOK_ALLOWED_HOSTS does not list the host.',
    }),
  ),
  duration_ms: Type.Integer({ description: 'Time until the response or the failure.' }),
});
export type DeliveryAttempt = Static<typeof DeliveryAttempt>;

export const WebhookDelivery = Type.Object(
  {
    id: uuid,
    event_id: Type.String({ description: 'Id of the event, and `webhook-id` of each attempt.' }),
    status: Type.Enum([...deliveryStates], {
      description: '`pending`: an attempt is running or scheduled; `failed`: no attempts are left.',
    }),
    attempts: Type.Array(DeliveryAttempt, { description: 'The newest fifty, oldest first.' }),
    created_at: instant('Time at which the delivery was created.'),
    next_attempt_at: nullable(instant('Next attempt of a pending delivery; null = not pending.')),
  },
  { $id: 'WebhookDelivery', description: 'Delivery of an event to an endpoint.' },
);
const one = Type.Object({ delivery: WebhookDelivery });

export const defaultDeliveryLimit = 50;
export const deliveryListQuery = Type.Object({
  status: Type.Optional(Type.Enum([...deliveryStates], { description: 'Only deliveries with this status.' })),
  limit: limitParameter({ usual: defaultDeliveryLimit, most: 200 }),
  cursor: Type.Optional(Type.String({ description: '`next` of the previous page.' })),
});
export const recovery = Type.Object({
  since: Type.String({
    format: 'date-time',
    description: 'Events from this time on are sent unless they were delivered.',
  }),
});

const endpointId = { endpoint_id: Type.Integer({ description: 'Id of the endpoint.' }) };
const notFound = {
  not_found: { code: 'not_found', when: 'The endpoint does not exist, or belongs to another account.' },
} as const satisfies ErrorReasons;
const disabled = {
  endpoint_disabled: { code: 'conflict', when: 'The endpoint is disabled. Enable it first.' },
} as const satisfies ErrorReasons;

const list = {
  request: Type.Object({ ...endpointId, ...deliveryListQuery.properties }),
  reply: Type.Object({
    items: Type.Array(WebhookDelivery, { description: 'Newest first.' }),
    next: nullable(Type.String({ description: '`cursor` of the next page; null = last page.' })),
  }),
  errors: { ...notFound, bad_request: { code: 'bad_request', when: '`cursor` is invalid.' } },
} as const;
const redelivery = {
  request: Type.Object({ ...endpointId, delivery_id: Type.String({ description: 'Id of the delivery.' }) }),
  reply: one,
  errors: {
    ...disabled,
    not_found: { code: 'not_found', when: 'The endpoint or delivery does not exist, or belongs to another account.' },
  },
} as const;
const test = { request: Type.Object(endpointId), reply: one, errors: { ...notFound, ...disabled } } as const;
const recover = {
  request: Type.Object({ ...endpointId, ...recovery.properties }),
  reply: oneEndpoint,
  errors: { ...notFound, ...disabled },
} as const;

/** RPCs of deliveries, to be spread into the contract of the events service. */
export const deliveryRpcs = {
  listDeliveries: rpc({
    subject: 'events.deliveries.list',
    callers: byUsers,
    summary: 'Lists deliveries of an endpoint whose events the caller can read (V5, V10).',
    ...list,
  }),
  redeliver: rpc({
    subject: 'events.deliveries.redeliver',
    callers: byUsers,
    idempotent: true,
    audit: 'webhook-delivery.redeliver',
    summary: 'Sends an event again (V5).',
    ...redelivery,
  }),
  testEndpoint: rpc({
    subject: 'events.deliveries.test',
    callers: byUsers,
    idempotent: true,
    audit: 'webhook-endpoint.test',
    summary: 'Sends a test event, which is not in the feed (V5, V11).',
    ...test,
  }),
  recoverEndpoint: rpc({
    subject: 'events.deliveries.recover',
    callers: byUsers,
    idempotent: true,
    audit: 'webhook-endpoint.recover',
    summary: 'Sends undelivered events since a time (V5, V11).',
    ...recover,
  }),
} as const;
