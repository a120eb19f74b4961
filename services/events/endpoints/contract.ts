/** Contract of webhook endpoints (rules/events#endpoints; V5, V11). */
import {
  byUsers,
  feedEvent,
  singleLine,
  limitParameter,
  nullable,
  withoutActor,
  rpc,
  Type,
  type ErrorReasons,
} from '#libs/infrastructure/contract';
import { createdEndpoint } from '#services/directory';

/** Maximum number of endpoints per account. */
export const maxEndpoints = 20;
/** A week. */
const maxOverlapSeconds = 604_800;
/** A day. */
export const defaultOverlapSeconds = 86_400;
const maxUrlLength = 2_000;

const instant = (description: string) => Type.String({ format: 'date-time', description });

export const disabledReasons = ['requested', 'gone', 'failing'] as const;
const reason = Type.Enum([...disabledReasons], {
  description:
    '`requested`: disabled by a user or operator; `gone`: the endpoint responded 410; `failing`: all attempts of five days failed.',
});

export const WebhookEndpoint = Type.Object(
  {
    id: Type.Integer({ description: 'Id of the endpoint.' }),
    account_id: Type.Integer({ description: 'Owner. Only events that this account can read are sent.' }),
    url: Type.String({ description: 'Address to which events are sent.' }),
    types: nullable(
      Type.Array(Type.String(), {
        description: 'Types of events that are sent, `conversation.*` for all of a kind; null = all.',
      }),
    ),
    description: Type.String(),
    created_at: instant('Time of creation. Earlier events are not sent.'),
    created_by_key_id: nullable(
      Type.String({
        description:
          'Service key that created the endpoint; null = created without a key, or before keys were recorded.',
      }),
    ),
    disabled: Type.Boolean({ description: 'True: no events are sent.' }),
    disabled_at: nullable(instant('Time at which the endpoint was disabled.')),
    disabled_reason: nullable(reason),
    failing_since: nullable(
      instant('First failure since the last successful attempt; null = the last attempt succeeded.'),
    ),
    recovering: Type.Boolean({ description: 'True: a recovery is running.' }),
    rotating_until: nullable(
      instant('End of the overlap in which deliveries are signed with the previous secret too; null = no overlap.'),
    ),
  },
  { $id: 'WebhookEndpoint', description: 'A webhook endpoint, without its secret.' },
);

export const oneEndpoint = Type.Object({ endpoint: WebhookEndpoint });
const one = oneEndpoint;
const issued = Type.Object({
  endpoint: WebhookEndpoint,
  secret: Type.Optional(
    Type.String({
      description:
        '`whsec_` and 32 bytes in base64. Returned only once; a repeated reply for the same `Idempotency-Key` does not contain it.',
    }),
  ),
});

const fields = {
  url: Type.String({
    minLength: 1,
    maxLength: maxUrlLength,
    description: 'Public `https` address without user and password. Redirects are not followed.',
  }),
  types: nullable(
    Type.Array(Type.String({ maxLength: 100 }), {
      minItems: 1,
      maxItems: 100,
      description: 'Types of events to send, `conversation.*` for all of a kind; null = all.',
    }),
  ),
  description: singleLine({ maxLength: 500, description: 'Purpose of the endpoint.' }),
};
export const newEndpoint = Type.Object(
  { url: fields.url, types: Type.Optional(fields.types), description: Type.Optional(fields.description) },
  { $id: 'WebhookEndpointCreate' },
);
export const endpointUpdate = Type.Object(
  {
    url: Type.Optional(fields.url),
    types: Type.Optional(fields.types),
    description: Type.Optional(fields.description),
    disabled: Type.Optional(
      Type.Boolean({
        description:
          'True: stops sending and cancels pending deliveries. False: sends events from now on; use `recover` for earlier ones.',
      }),
    ),
  },
  { $id: 'WebhookEndpointUpdate' },
);
export const defaultEndpointLimit = 100;
export const endpointListQuery = Type.Object({
  account_id: Type.Optional(Type.Integer({ description: 'Only endpoints of this account.' })),
  limit: limitParameter({ usual: defaultEndpointLimit, most: 200 }),
  offset: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 2_147_483_647, default: 0, description: 'Number of items to skip.' }),
  ),
});
export const secretRotation = Type.Object({
  overlap_seconds: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: maxOverlapSeconds,
      default: defaultOverlapSeconds,
      description:
        'Seconds for which deliveries are signed with the previous secret too, default one day; 0 = no overlap.',
    }),
  ),
});

const endpointId = { endpoint_id: Type.Integer({ description: 'Id of the endpoint.' }) };
const notFound = {
  not_found: { code: 'not_found', when: 'The endpoint does not exist, or belongs to another account.' },
} as const satisfies ErrorReasons;
const invalid = {
  bad_request: {
    code: 'bad_request',
    when: '`url` is not `https`, has a user or password, or is a private address; or `types` contains an unknown type.',
  },
} as const satisfies ErrorReasons;
const changed = {
  precondition_failed: { code: 'precondition_failed', when: 'If-Match does not match the current ETag.' },
} as const satisfies ErrorReasons;

/** RPCs of endpoints, to be spread into the contract of the events service. */
export const endpointRpcs = {
  createEndpoint: rpc({
    subject: 'events.endpoints.create',
    callers: byUsers,
    idempotent: true,
    audit: 'webhook-endpoint.create',
    summary: 'Creates a webhook endpoint and its secret (V5).',
    request: newEndpoint,
    reply: issued,
    errors: {
      ...invalid,
      too_many_endpoints: { code: 'conflict', when: `The account has the maximum of ${maxEndpoints} endpoints.` },
    },
  }),
  listEndpoints: rpc({
    subject: 'events.endpoints.list',
    callers: byUsers,
    summary: "Lists the caller's endpoints; for superusers, the endpoints of all accounts (V5).",
    request: endpointListQuery,
    reply: Type.Object({ items: Type.Array(WebhookEndpoint, { description: 'Newest first.' }) }),
  }),
  getEndpoint: rpc({
    subject: 'events.endpoints.get',
    callers: byUsers,
    summary: 'Returns a webhook endpoint (V5).',
    request: Type.Object(endpointId),
    reply: one,
    errors: notFound,
  }),
  updateEndpoint: rpc({
    subject: 'events.endpoints.update',
    callers: byUsers,
    idempotent: true,
    audit: 'webhook-endpoint.update',
    summary: 'Updates the given fields of an endpoint (V5, V11).',
    request: Type.Object({
      ...endpointId,
      ...endpointUpdate.properties,
      if_match: Type.Optional(nullable(Type.String({ description: 'The header If-Match.' }))),
    }),
    reply: one,
    errors: { ...invalid, ...notFound, ...changed },
  }),
  deleteEndpoint: rpc({
    subject: 'events.endpoints.delete',
    callers: byUsers,
    audit: 'webhook-endpoint.delete',
    summary: 'Deletes an endpoint and its deliveries (V5).',
    request: Type.Object(endpointId),
    reply: Type.Object({}),
    errors: notFound,
  }),
  rotateEndpointSecret: rpc({
    subject: 'events.endpoints.rotate-secret',
    callers: byUsers,
    idempotent: true,
    audit: 'webhook-endpoint.rotate-secret',
    summary:
      'Creates a new secret for an endpoint; deliveries are signed with the previous one too until the overlap ends (V5).',
    request: Type.Object({ ...endpointId, ...secretRotation.properties }),
    reply: issued,
    errors: notFound,
  }),
  listEndpointsOfKey: rpc({
    subject: 'events.endpoints.list-of-key',
    callers: { directory: withoutActor },
    summary: 'Lists webhook endpoints that a service key created, newest first (V5).',
    request: Type.Object({ account_id: Type.Integer({ description: 'Account of the key.' }), key_id: Type.String() }),
    reply: Type.Object({ items: Type.Array(createdEndpoint, { maxItems: maxEndpoints }) }),
    timeoutMs: 2_000,
  }),
} as const;

/** Public events that this service emits itself. */
export const endpointFeed = {
  disabled: feedEvent({
    type: 'webhook_endpoint.disabled',
    subject: 'webhook_endpoint',
    summary: 'A webhook endpoint was disabled.',
    data: Type.Object({ reason }),
    example: { reason: 'gone' },
  }),
} as const;
