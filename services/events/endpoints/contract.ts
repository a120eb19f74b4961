/** Contract of webhook endpoints: where events are sent, for whom, and with which secret (rules/events#endpoints; V5, V11). */
import {
  byOperators,
  byUsers,
  feedEvent,
  singleLine,
  limitParameter,
  nullable,
  withoutActor,
  rpc,
  Type,
  type ErrorReasons,
} from '#libs/contract';
import { createdEndpoint } from '#services/directory';

/** Endpoints of an account. */
export const maxEndpoints = 20;
/** Longest overlap of a rotation: a week. */
const maxOverlapSeconds = 604_800;
/** A day. */
export const usualOverlapSeconds = 86_400;
/** Longest address. */
const maxUrlLength = 2_000;

const instant = (description: string) => Type.String({ format: 'date-time', description });

export const disabledReasons = ['requested', 'gone', 'failing'] as const;
const reason = Type.Enum([...disabledReasons], {
  description: '`requested`: somebody did it; `gone`: it answered 410; `failing`: nothing but failures for five days.',
});

export const WebhookEndpoint = Type.Object(
  {
    id: Type.Integer({ description: 'Id of the endpoint.' }),
    account_id: Type.Integer({ description: 'The account whose eyes decide what is sent.' }),
    url: Type.String({ description: 'Where events are sent.' }),
    types: nullable(Type.Array(Type.String(), { description: 'Only these types; `conversation.*` is all of them.' })),
    description: Type.String(),
    created_at: instant('Events from before are not sent.'),
    created_by_key_id: nullable(
      Type.String({ description: 'The service key that created it; null = created without one, or before keys were recorded here.' }),
    ),
    disabled: Type.Boolean({ description: 'Nothing is sent.' }),
    disabled_at: nullable(instant('Since when nothing is sent.')),
    disabled_reason: nullable(reason),
    failing_since: nullable(instant('The first failure since something was delivered; null = the last attempt was a success.')),
    recovering: Type.Boolean({ description: 'What `recover` asked for has not all become deliveries yet.' }),
    rotating_until: nullable(instant('Until then deliveries are signed with the secret from before too; null = with one alone.')),
  },
  { $id: 'WebhookEndpoint', description: 'Where events are sent, without its secret.' },
);

export const oneEndpoint = Type.Object({ endpoint: WebhookEndpoint });
const one = oneEndpoint;
const issued = Type.Object({
  endpoint: WebhookEndpoint,
  secret: Type.Optional(
    Type.String({
      description:
        '`whsec_` and the base64 of 32 bytes. Shown this once: an answer that is repeated for its `Idempotency-Key` leaves it out.',
    }),
  ),
});

const fields = {
  url: Type.String({
    minLength: 1,
    maxLength: maxUrlLength,
    description: 'An `https` address of the public internet, without user and password. What it answers with a redirect is not followed.',
  }),
  types: nullable(
    Type.Array(Type.String({ maxLength: 100 }), {
      minItems: 1,
      maxItems: 100,
      description: 'Only these types, `conversation.*` for all of a kind; null = all.',
    }),
  ),
  description: singleLine({ maxLength: 500, description: 'What it is for.' }),
};
export const newEndpoint = Type.Object(
  { url: fields.url, types: Type.Optional(fields.types), description: Type.Optional(fields.description) },
  { $id: 'NewWebhookEndpoint' },
);
export const endpointUpdate = Type.Object(
  {
    url: Type.Optional(fields.url),
    types: Type.Optional(fields.types),
    description: Type.Optional(fields.description),
    disabled: Type.Optional(
      Type.Boolean({
        description:
          'True: nothing is sent any more, what waits included. False: what happens from now on is sent; `recover` brings the rest.',
      }),
    ),
  },
  { $id: 'WebhookEndpointUpdate' },
);
/** Endpoints of a page when the caller does not say. */
export const usualEndpoints = 100;
export const endpointListQuery = Type.Object({
  account_id: Type.Optional(Type.Integer({ description: 'Only those of this account.' })),
  limit: limitParameter({ usual: usualEndpoints, most: 200 }),
  offset: Type.Optional(Type.Integer({ minimum: 0, maximum: 2_147_483_647, default: 0, description: 'Items before the page.' })),
});
export const secretRotation = Type.Object({
  overlap_seconds: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: maxOverlapSeconds,
      default: usualOverlapSeconds,
      description: 'Seconds for which deliveries are signed with the old secret too, default a day; 0 = it ends at once.',
    }),
  ),
});

const endpointId = { endpoint_id: Type.Integer({ description: 'Id of the endpoint.' }) };
const notFound = {
  not_found: { code: 'not_found', when: 'No endpoint has the id, or it is not of the caller.' },
} as const satisfies ErrorReasons;
const invalid = {
  bad_request: {
    code: 'bad_request',
    when: 'The address is not `https`, has a user or a password, or is private by its text; or `types` names one that does not exist.',
  },
} as const satisfies ErrorReasons;
const changed = {
  precondition_failed: { code: 'precondition_failed', when: 'If-Match names another representation than the present one.' },
} as const satisfies ErrorReasons;

/** To be spread into the contract of the events service. */
export const endpointRpcs = {
  createEndpoint: rpc({
    subject: 'events.endpoints.create',
    callers: byUsers,
    idempotent: true,
    audit: 'webhook-endpoint.create',
    summary: 'Makes a webhook endpoint and its secret (V5).',
    request: newEndpoint,
    reply: issued,
    errors: { ...invalid, too_many_endpoints: { code: 'conflict', when: `The account has ${maxEndpoints} endpoints.` } },
  }),
  listEndpoints: rpc({
    subject: 'events.endpoints.list',
    callers: byUsers,
    summary: "The caller's endpoints, for a superuser those of every account (V5).",
    request: endpointListQuery,
    reply: Type.Object({ items: Type.Array(WebhookEndpoint, { description: 'Newest first.' }) }),
  }),
  getEndpoint: rpc({
    subject: 'events.endpoints.get',
    callers: byUsers,
    summary: 'One webhook endpoint (V5).',
    request: Type.Object(endpointId),
    reply: one,
    errors: notFound,
  }),
  updateEndpoint: rpc({
    subject: 'events.endpoints.update',
    callers: byUsers,
    idempotent: true,
    audit: 'webhook-endpoint.update',
    summary: 'Changes an endpoint; only what is named changes (V5, V11).',
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
    summary: 'Ends an endpoint with what was sent to it (V5).',
    request: Type.Object(endpointId),
    reply: Type.Object({}),
    errors: notFound,
  }),
  rotateEndpointSecret: rpc({
    subject: 'events.endpoints.rotate-secret',
    callers: byUsers,
    idempotent: true,
    audit: 'webhook-endpoint.rotate-secret',
    summary: 'Gives an endpoint a new secret; the old one signs too until the overlap ends (V5).',
    request: Type.Object({ ...endpointId, ...secretRotation.properties }),
    reply: issued,
    errors: notFound,
  }),
  listEndpointsOfKey: rpc({
    subject: 'events.endpoints.list-of-key',
    callers: { directory: withoutActor },
    summary: 'Webhook endpoints that a service key created, newest first (V5).',
    request: Type.Object({ account_id: Type.Integer({ description: 'Account of the key.' }), key_id: Type.String() }),
    reply: Type.Object({ items: Type.Array(createdEndpoint, { maxItems: maxEndpoints }) }),
    timeoutMs: 2_000,
  }),
  listAllEndpoints: rpc({
    subject: 'admin.events.endpoints.list-all',
    callers: byOperators,
    summary: 'Endpoints of one account or of all, newest first.',
    request: endpointListQuery,
    reply: Type.Object({ items: Type.Array(WebhookEndpoint) }),
  }),
  showEndpoint: rpc({
    subject: 'admin.events.endpoints.show',
    callers: byOperators,
    summary: 'One webhook endpoint.',
    request: Type.Object(endpointId),
    reply: one,
    errors: notFound,
  }),
  switchEndpoint: rpc({
    subject: 'admin.events.endpoints.switch',
    callers: byOperators,
    audit: 'webhook-endpoint.update',
    summary: 'Disables or enables an endpoint.',
    request: Type.Object({ ...endpointId, disabled: Type.Boolean() }),
    reply: one,
    errors: notFound,
  }),
} as const;

/** What the events service tells the feed itself. */
export const endpointFeed = {
  disabled: feedEvent({
    type: 'webhook_endpoint.disabled',
    subject: 'webhook_endpoint',
    summary: 'Nothing is sent to a webhook endpoint any more.',
    data: Type.Object({ reason }),
    example: { reason: 'gone' },
  }),
} as const;
