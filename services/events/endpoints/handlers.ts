/** Operations on webhook endpoints (rules/events#endpoints; V5, V11). */
import { type AuditContext, changedFields, recordAudit } from '#libs/infrastructure/audit';
import { isPossibleId, type RequestOf } from '#libs/infrastructure/contract';
import { AppError, appError, notFound } from '#libs/infrastructure/errors';
import { entityTag, matchesEntityTag } from '#libs/infrastructure/etag';
import type { EventOutbox } from '#libs/infrastructure/feed';
import { type Handlers, type RawJson, rawJson, TaggedReply, withEtag } from '#libs/infrastructure/nats';
import type { Tx } from '#libs/infrastructure/orm';
import type { Queryable } from '#libs/infrastructure/sql';
import type { events } from '../contract.ts';
import type { Dependencies } from '../dependencies.ts';
import { defaultEndpointLimit, defaultOverlapSeconds, maxEndpoints, type endpointRpcs } from './contract.ts';
import { validateUrl } from './address.ts';
import { disableEndpoint } from './index.ts';
import { createSecret, findOwner, formatSecret, type OwnerId, requireUser, validateTypes } from './rules.ts';
import {
  countEndpoints,
  enable,
  type EndpointRow,
  getEndpoint,
  insertEndpoint,
  listEndpoints,
  listEndpointsOfKey,
  lockAccount,
  lockEndpoint,
  markDeleted,
  rotateSecret,
  saveEndpoint,
} from './statements.ts';

type EndpointHandlers = Pick<Handlers<typeof events>, keyof typeof endpointRpcs>;
type Update = RequestOf<(typeof events)['rpcs']['updateEndpoint']>;

export function createEndpointHandlers(
  deps: Pick<Dependencies, 'config' | 'db' | 'eventOutbox' | 'idempotency'>,
): EndpointHandlers {
  const { db, idempotency, eventOutbox, config } = deps;
  const allowedHosts = config.WEBHOOK_ALLOWED_HOSTS;
  const page = async (
    ownerId: OwnerId,
    {
      account_id: accountId,
      limit = defaultEndpointLimit,
      offset = 0,
    }: RequestOf<(typeof events)['rpcs']['listEndpoints']>,
  ): Promise<RawJson> => {
    if (accountId !== undefined && !isPossibleId(accountId)) return rawJson('{"items":[]}');
    return rawJson((await listEndpoints(db, { ownerId, accountId, limit, offset })).body);
  };
  return {
    createEndpoint: async (request, context) => {
      const { accountId, key } = requireUser(context.actor);
      const fields = {
        url: validateUrl(request.url, allowedHosts),
        types: validateTypes(request.types),
        description: request.description ?? '',
      };
      const secret = createSecret();
      const created = await idempotency.run(context, request, (tx) =>
        create(tx, { accountId, createdByKeyId: key?.id ?? null, ...fields, secret }, context),
      );
      return withSecret(created, secret);
    },
    listEndpoints: (request, { actor }) => page(findOwner(actor), request),
    getEndpoint: async ({ endpoint_id: id }, { actor }) => rawJson(await show(db, id, findOwner(actor))),
    updateEndpoint: (request, context) =>
      idempotency.run(context, request, (tx) =>
        update(tx, { eventOutbox, allowedHosts, ownerId: findOwner(context.actor) }, request, context),
      ),
    deleteEndpoint: ({ endpoint_id: id }, context) =>
      db.transaction(async (tx) => {
        await lock(tx, id, findOwner(context.actor));
        await markDeleted(tx, { id });
        recordAudit(tx, context, { target: { type: 'webhook_endpoint', id } });
        return {};
      }),
    rotateEndpointSecret: async (request, context) => {
      const { endpoint_id: id, overlap_seconds: overlapSeconds = defaultOverlapSeconds } = request;
      const secret = createSecret();
      const rotated = await idempotency.run(context, request, async (tx) => {
        await lock(tx, id, findOwner(context.actor));
        await rotateSecret(tx, { id, secret, overlapSeconds });
        recordAudit(tx, context, {
          target: { type: 'webhook_endpoint', id },
          changes: { overlap_seconds: overlapSeconds },
        });
        return rawJson(await show(tx, id, null));
      });
      return withSecret(rotated, secret);
    },
    listEndpointsOfKey: async ({ account_id: accountId, key_id: keyId }) => {
      const rows = await listEndpointsOfKey(db, { accountId, keyId });
      return { items: rows.map(({ url, ...endpoint }) => ({ ...endpoint, url_host: new URL(url).host })) };
    },
  };
}

async function create(
  tx: Tx,
  endpoint: {
    accountId: number;
    createdByKeyId: string | null;
    url: string;
    types: string[] | null;
    description: string;
    secret: Buffer;
  },
  context: AuditContext,
): Promise<RawJson> {
  const { accountId, types } = endpoint;
  await lockAccount(tx, { accountId });
  if ((await countEndpoints(tx, { accountId })).count >= maxEndpoints)
    throw appError(
      'conflict',
      'too_many_endpoints',
      `The account has the maximum of ${maxEndpoints} endpoints. Delete one first.`,
    );
  const { id } = await insertEndpoint(tx, endpoint);
  recordAudit(tx, context, { target: { type: 'webhook_endpoint', id }, changes: { account_id: accountId, types } });
  return rawJson(await show(tx, id, null));
}

interface UpdateOptions {
  readonly eventOutbox: EventOutbox;
  readonly allowedHosts: string;
  readonly ownerId: OwnerId;
}

async function update(
  tx: Tx,
  { eventOutbox, allowedHosts, ownerId }: UpdateOptions,
  request: Update,
  context: AuditContext,
): Promise<TaggedReply<RawJson>> {
  const { endpoint_id: id, if_match: ifMatch, disabled, ...requested } = request;
  const before = await lock(tx, id, ownerId);
  if (
    ifMatch !== undefined &&
    ifMatch !== null &&
    !matchesEntityTag(ifMatch, entityTag(await show(tx, id, null)), 'strong')
  )
    throw new AppError({
      code: 'precondition_failed',
      message: 'The endpoint was changed: If-Match does not match its current ETag.',
    });
  const { url, types, description } = before;
  const after = {
    url: requested.url === undefined ? url : validateUrl(requested.url, allowedHosts),
    types: requested.types === undefined ? types : validateTypes(requested.types),
    description: requested.description ?? description,
  };
  const changes = changedFields({ url, types, description }, after);
  if (changes.length > 0) await saveEndpoint(tx, { id, ...after });
  if (disabled !== undefined && disabled !== before.disabled) {
    changes.push('disabled');
    if (disabled) await disableEndpoint(eventOutbox, tx, id, 'requested');
    else await enable(tx, { id });
  }
  if (changes.length > 0)
    recordAudit(tx, context, { target: { type: 'webhook_endpoint', id }, changes: { fields: changes } });
  const body = await show(tx, id, null);
  return withEtag(rawJson(body), entityTag(body));
}

/** Locks and returns the endpoint. @throws AppError 404 */
async function lock(tx: Tx, id: number, ownerId: OwnerId): Promise<EndpointRow> {
  const row = isPossibleId(id) ? await lockEndpoint(tx, { id, ownerId }) : undefined;
  if (row === undefined) throw notFound();
  return row;
}

/** Returns the JSON of `{endpoint}`. @throws AppError 404 */
async function show(on: Queryable, id: number, ownerId: OwnerId): Promise<string> {
  const row = isPossibleId(id) ? await getEndpoint(on, { id, ownerId }) : undefined;
  if (row === undefined) throw notFound();
  return row.body;
}

/**
 * Adds the secret to a new reply. A reply that is repeated for the same idempotency key does not contain the secret
 * (I4).
 */
function withSecret(reply: RawJson | TaggedReply<RawJson>, secret: Buffer): RawJson | TaggedReply<RawJson> {
  if (reply instanceof TaggedReply) return reply;
  const body = Buffer.from(reply.bytes).toString('utf8');
  return rawJson(`${body.slice(0, -1)},"secret":${JSON.stringify(formatSecret(secret))}}`);
}
