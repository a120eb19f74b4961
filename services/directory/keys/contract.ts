/** Service keys: bearer tokens of programs, each of one account and narrowed to its scopes (rules/access#service-keys). */
import {
  byGateway,
  byOperators,
  byUsers,
  type ErrorReasons,
  event,
  singleLine,
  nullable,
  rpc,
  scopes,
  type Static,
  Type,
} from '#libs/contract';
import { actorFacts, anyId, instant, limitParameter, offsetParameter, pageFields, v1Errors } from '../api-objects/contract.ts';

/** Unrevoked keys of an account. */
export const maxKeys = 100;
/** Longest overlap of a rotation: a week. */
export const maxOverlapSeconds = 604_800;
/** A day. */
export const usualOverlapSeconds = 86_400;

export const ServiceKey = Type.Object(
  {
    id: Type.String({ description: 'The part of the token that is no secret.' }),
    name: Type.String(),
    account: Type.Object({ id: Type.Integer(), email: Type.String() }, { description: 'The account as which it acts.' }),
    person_id: nullable(Type.Integer({ description: "The account's person." })),
    scopes: Type.Array(Type.String(), { description: '`*` stands for all.' }),
    created_at: instant('When it was made.'),
    created_by: Type.Object(
      { account_id: nullable(Type.Integer()), key_id: nullable(Type.String()) },
      { description: 'Who made it: an account, and its key where it used one; both null: an operator.' },
    ),
    expires_at: nullable(instant('From then on it is not accepted; null = never.')),
    last_used_at: nullable(instant('The last use, right to a minute; null = never.')),
    rotating_until: nullable(instant('Until then a secret from before the last rotation is accepted too; null = none is.')),
    revoked_at: nullable(instant('When it was ended for good.')),
  },
  { $id: 'ServiceKey', description: 'A service key, without its secret.' },
);
export const issuedKey = Type.Object({
  key: ServiceKey,
  token: Type.String({ description: '`svc_key_<id>_<secret>`, shown this once.' }),
});
const oneKey = Type.Object({ key: ServiceKey });
/** An endpoint in the reply to a key's revocation. */
export const createdEndpoint = Type.Object(
  {
    id: Type.Integer({ description: 'Id of the endpoint.' }),
    url_host: Type.String({ description: 'Host, and port where it is not the usual one, of its URL.' }),
    description: Type.String(),
    disabled: Type.Boolean({ description: 'Nothing is sent.' }),
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
const keyList = Type.Object({ items: Type.Array(ServiceKey, { description: 'Newest first.' }), count: pageFields.count });

const wish = {
  name: singleLine({ minLength: 1, maxLength: 200, description: 'What it is for; not blank.' }),
  scopes: Type.Array(Type.String({ maxLength: 64 }), {
    minItems: 1,
    maxItems: 50,
    description: `What it may do: \`*\` for everything, or some of ${scopes.map((scope) => `\`${scope}\``).join(', ')}.`,
  }),
  expires_at: Type.Optional(
    nullable(Type.String({ format: 'date-time', description: 'From then on it is not accepted. Without an offset it is UTC.' })),
  ),
};
export const newKey = Type.Object(
  {
    ...wish,
    account_id: Type.Optional(Type.Integer({ description: "The account as which it acts; default the caller's own." })),
  },
  { $id: 'NewServiceKey' },
);
export type NewKey = Static<typeof newKey>;

/** Items of a page when the caller does not say (rules/http#limits). */
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
      default: usualOverlapSeconds,
      description: `Seconds for which the old secret is accepted too, default a day; 0 = it ends at once.`,
    }),
  ),
});

/** As long as an address may be: what no key has is not there. */
const keyId = Type.String({ maxLength: 16_384, description: 'Id of the key.' });
const notFound = v1Errors.notFound('No key has the id, or the caller may not see it.');
const creation = {
  ...v1Errors.validation(
    'The name is blank, a scope does not exist, the expiry is past, or a superuser names an account that does not exist.',
  ),
  too_many_keys: { code: 'conflict', when: `The account has ${maxKeys} keys that are not revoked.` },
  account_inactive: { code: 'conflict', when: 'The account is deactivated.' },
} as const satisfies ErrorReasons;
const rotating = { ...notFound, key_ended: { code: 'conflict', when: 'The key is revoked or expired.' } } as const satisfies ErrorReasons;

/** An account, for the admin CLI. */
const whose = {
  email: Type.Optional(Type.String({ minLength: 1, maxLength: 320 })),
  account_id: Type.Optional(Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: 'In the place of an email.' })),
};

/** To be spread into the contract of the directory. */
export const keyRpcs = {
  createKey: rpc({
    subject: 'directory.keys.create',
    callers: byUsers,
    audit: 'key.create',
    summary: 'Makes a service key (rules/access#service-keys; K5).',
    request: newKey,
    reply: issuedKey,
    errors: {
      ...creation,
      ...v1Errors.denied("The account is another's and the caller no superuser, or the caller's own key lacks one of the scopes."),
    },
  }),
  listKeys: rpc({
    subject: 'directory.keys.list',
    callers: byUsers,
    summary: "The caller's keys, for a superuser those of every account (K5).",
    request: keyListQuery,
    reply: keyList,
  }),
  getKey: rpc({
    subject: 'directory.keys.get',
    callers: byUsers,
    summary: 'One service key (K5).',
    request: Type.Object({ key_id: keyId }),
    reply: oneKey,
    errors: notFound,
  }),
  rotateKey: rpc({
    subject: 'directory.keys.rotate',
    callers: byUsers,
    audit: 'key.rotate',
    summary: 'Gives a key a new secret; the old one works until the overlap ends (K5).',
    request: Type.Object({ key_id: keyId, ...rotation.properties }),
    reply: issuedKey,
    errors: { ...rotating, ...v1Errors.denied("The caller's own key lacks one of its scopes.") },
  }),
  revokeKey: rpc({
    subject: 'directory.keys.revoke',
    callers: byUsers,
    idempotent: true,
    audit: 'key.revoke',
    summary: 'Ends a key for good, at once (K5).',
    request: Type.Object({ key_id: keyId }),
    reply: revokedKey,
    errors: notFound,
  }),
  verifyKey: rpc({
    subject: 'directory.keys.verify',
    callers: byGateway,
    summary: 'As whom a service key acts; unauthenticated when unknown, expired, revoked or of an inactive account (K6).',
    request: Type.Object({ token: Type.String({ maxLength: 8_192 }) }),
    reply: Type.Object({
      actor: Type.Object({ ...actorFacts, key: Type.Object({ id: Type.String(), scopes: Type.Array(Type.String()) }) }),
    }),
    timeoutMs: 5_000,
  }),
  issueKey: rpc({
    subject: 'admin.directory.keys.issue',
    callers: byOperators,
    audit: 'key.create',
    summary: 'Makes a key of an account.',
    request: Type.Object({ ...whose, ...wish }),
    reply: issuedKey,
    errors: { ...creation, account_not_found: { code: 'not_found', when: 'No account has that email, or none is named.' } },
  }),
  listAllKeys: rpc({
    subject: 'admin.directory.keys.list-all',
    callers: byOperators,
    summary: 'Keys of one account or of all, newest first.',
    request: Type.Object({
      ...whose,
      limit: Type.Integer({ minimum: 1, maximum: 1_000 }),
      offset: Type.Integer({ minimum: 0, maximum: 2_147_483_647 }),
    }),
    reply: keyList,
    errors: { account_not_found: { code: 'not_found', when: 'No account has that email.' } },
  }),
  showAnyKey: rpc({
    subject: 'admin.directory.keys.show-any',
    callers: byOperators,
    summary: 'One service key.',
    request: Type.Object({ key_id: keyId }),
    reply: oneKey,
    errors: notFound,
  }),
  rotateAnyKey: rpc({
    subject: 'admin.directory.keys.rotate-any',
    callers: byOperators,
    audit: 'key.rotate',
    summary: 'Gives a key a new secret; the old one works until the overlap ends.',
    request: Type.Object({ key_id: keyId, ...rotation.properties }),
    reply: issuedKey,
    errors: rotating,
  }),
  revokeAnyKey: rpc({
    subject: 'admin.directory.keys.revoke-any',
    callers: byOperators,
    audit: 'key.revoke',
    summary: 'Ends a key for good, at once.',
    request: Type.Object({ key_id: keyId }),
    reply: revokedKey,
    errors: notFound,
  }),
} as const;

/** To be spread into the contract of the directory. */
export const keyEvents = {
  keysChanged: event({
    subject: 'events.directory.keys.changed',
    subscribers: ['api-gateway'],
    summary: 'Keys became invalid, got another secret, or what their account may do changed.',
    payload: Type.Object({ key_ids: Type.Array(Type.String()) }),
  }),
} as const;
