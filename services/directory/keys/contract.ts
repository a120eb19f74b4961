/** Service keys: bearer tokens of programs, limited to scopes of one account (rules/access#service-keys). */
import {
  byGateway,
  byUsers,
  type ErrorReasons,
  event,
  singleLine,
  nullable,
  rpc,
  scopes,
  type Static,
  Type,
} from '#libs/infrastructure/contract';
import {
  actorFacts,
  anyId,
  instant,
  limitParameter,
  offsetParameter,
  pageFields,
  v1Errors,
} from '../api-objects/contract.ts';

/** Maximum unrevoked keys per account. */
export const maxKeys = 100;
/** Maximum rotation overlap in seconds: a week. */
export const maxOverlapSeconds = 604_800;
/** Default rotation overlap in seconds: a day. */
export const defaultOverlapSeconds = 86_400;

export const ServiceKey = Type.Object(
  {
    id: Type.String({ description: 'The public part of the token.' }),
    name: Type.String(),
    account: Type.Object(
      { id: Type.Integer(), email: Type.String() },
      { description: 'The account on whose behalf it acts.' },
    ),
    person_id: nullable(Type.Integer({ description: "The account's person." })),
    scopes: Type.Array(Type.String(), { description: '`*` stands for all.' }),
    created_at: instant('Creation time.'),
    created_by: Type.Object(
      { account_id: nullable(Type.Integer()), key_id: nullable(Type.String()) },
      { description: 'Account, and service key if one was used; both null for operators.' },
    ),
    expires_at: nullable(instant('Expiry time; null = never.')),
    last_used_at: nullable(instant('Time of the last use, accurate to a minute; null = never.')),
    rotating_until: nullable(instant('Until this time an earlier secret is accepted too; null = no.')),
    revoked_at: nullable(instant('Time of the revocation.')),
  },
  { $id: 'ServiceKey', description: 'A service key, without its secret.' },
);
export const issuedKey = Type.Object({
  key: ServiceKey,
  token: Type.String({ description: '`svc_key_<id>_<secret>`. Returned only once. Store it.' }),
});
const oneKey = Type.Object({ key: ServiceKey });
/** A webhook endpoint that the revoked key created, as the reply to the revocation lists it. */
export const createdEndpoint = Type.Object(
  {
    id: Type.Integer({ description: 'Id of the endpoint.' }),
    url_host: Type.String({ description: 'Host of its URL, with a non-default port.' }),
    description: Type.String(),
    disabled: Type.Boolean({ description: 'Whether it is disabled and receives nothing.' }),
  },
  { $id: 'CreatedWebhookEndpoint', description: 'A webhook endpoint that a service key created.' },
);

const revokedKey = Type.Object({
  key: ServiceKey,
  webhook_endpoints: nullable(
    Type.Array(createdEndpoint, {
      description:
        'Webhook endpoints that the key created, newest first. They remain: disable or delete them. Null: the events service did not reply.',
    }),
  ),
});
const keyList = Type.Object({
  items: Type.Array(ServiceKey, { description: 'Newest first.' }),
  count: pageFields.count,
});

const keyFields = {
  name: singleLine({ minLength: 1, maxLength: 200, description: 'Purpose of the key. Must not be blank.' }),
  scopes: Type.Array(Type.String({ maxLength: 64 }), {
    minItems: 1,
    maxItems: 50,
    description: `Scopes: \`*\` for all, or some of ${scopes.map((scope) => `\`${scope}\``).join(', ')}.`,
  }),
  expires_at: Type.Optional(
    nullable(Type.String({ format: 'date-time', description: 'Expiry time. Without an offset it is UTC.' })),
  ),
};
export const newKey = Type.Object(
  {
    ...keyFields,
    account_id: Type.Optional(
      Type.Integer({ description: "The account on whose behalf it acts. Default: the caller's account." }),
    ),
  },
  { $id: 'ServiceKeyCreate' },
);
export type NewKey = Static<typeof newKey>;

/** Default page size (rules/http#limits). */
export const keysPerPage = 100;

export const keyListQuery = Type.Object({
  account_id: Type.Optional(anyId('Only keys of this account.')),
  limit: limitParameter({ usual: keysPerPage, most: 100 }),
  offset: offsetParameter,
});
export const rotation = Type.Object({
  overlap_seconds: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: maxOverlapSeconds,
      default: defaultOverlapSeconds,
      description: `Seconds for which the old secret is still accepted. Default: a day; 0 = not at all.`,
    }),
  ),
});

/** The maximum is the length limit of URLs; a longer id returns 404. */
const keyId = Type.String({ maxLength: 16_384, description: 'Id of the key.' });
const notFound = v1Errors.notFound('The key does not exist, or the caller cannot see it.');
const creation = {
  ...v1Errors.validation('The name is blank, a scope or account does not exist, or the expiry is in the past.'),
  too_many_keys: { code: 'conflict', when: `The account has ${maxKeys} unrevoked keys.` },
  account_inactive: { code: 'conflict', when: 'The account is deactivated.' },
} as const satisfies ErrorReasons;
const rotating = {
  ...notFound,
  key_ended: { code: 'conflict', when: 'The key is revoked or expired.' },
} as const satisfies ErrorReasons;

export const keyRpcs = {
  createKey: rpc({
    subject: 'directory.keys.create',
    callers: byUsers,
    audit: 'key.create',
    summary: 'Creates a service key (rules/access#service-keys; K5).',
    request: newKey,
    reply: issuedKey,
    errors: {
      ...creation,
      ...v1Errors.denied(
        "The account belongs to another caller (superusers are exempt), or the caller's key lacks one of the scopes.",
      ),
    },
  }),
  listKeys: rpc({
    subject: 'directory.keys.list',
    callers: byUsers,
    summary: "Lists the caller's keys; for superusers the keys of all accounts (K5).",
    request: keyListQuery,
    reply: keyList,
  }),
  getKey: rpc({
    subject: 'directory.keys.get',
    callers: byUsers,
    summary: 'Returns a service key (K5).',
    request: Type.Object({ key_id: keyId }),
    reply: oneKey,
    errors: notFound,
  }),
  rotateKey: rpc({
    subject: 'directory.keys.rotate',
    callers: byUsers,
    audit: 'key.rotate',
    summary: 'Rotates the secret of a key. The old secret works until the overlap ends (K5).',
    request: Type.Object({ key_id: keyId, ...rotation.properties }),
    reply: issuedKey,
    errors: { ...rotating, ...v1Errors.denied("The caller's key lacks one of its scopes.") },
  }),
  revokeKey: rpc({
    subject: 'directory.keys.revoke',
    callers: byUsers,
    idempotent: true,
    audit: 'key.revoke',
    summary: 'Revokes a key permanently (K5).',
    request: Type.Object({ key_id: keyId }),
    reply: revokedKey,
    errors: notFound,
  }),
  verifyKey: rpc({
    subject: 'directory.keys.verify',
    callers: byGateway,
    summary:
      'Returns the actor of a service key. Unauthenticated if the key is unknown, expired, revoked or belongs to an inactive account (K6).',
    request: Type.Object({ token: Type.String({ maxLength: 8_192 }) }),
    reply: Type.Object({
      actor: Type.Object({ ...actorFacts, key: Type.Object({ id: Type.String(), scopes: Type.Array(Type.String()) }) }),
    }),
    timeoutMs: 5_000,
  }),
} as const;

export const keyEvents = {
  keysChanged: event({
    subject: 'events.directory.keys.changed',
    subscribers: ['api-gateway'],
    summary: 'Keys became invalid, were rotated, or the rights of their account changed.',
    payload: Type.Object({ key_ids: Type.Array(Type.String()) }),
  }),
} as const;
