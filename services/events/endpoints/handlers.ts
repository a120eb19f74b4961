/** Webhook endpoints: make, list, read, change, end, rotate (rules/events#endpoints; V5, V11). */
import { type AuditContext, changedFields, recordAudit } from '#libs/audit';
import { isPossibleId, type RequestOf } from '#libs/contract';
import { AppError, appError, notFound } from '#libs/errors';
import { entityTag, matchesEntityTag } from '#libs/etag';
import type { EventOutbox } from '#libs/feed';
import type { IdempotencyStore } from '#libs/idempotency';
import { type Handlers, type RawJson, rawJson, TaggedReply, withEtag } from '#libs/nats';
import type { Database, Tx } from '#libs/orm';
import type { Queryable } from '#libs/sql';
import type { EventsConfig } from '../config.ts';
import type { events } from '../contract.ts';
import { maxEndpoints, usualEndpoints, usualOverlapSeconds, type endpointRpcs } from './contract.ts';
import { disableEndpoint } from './disabling.ts';
import { findOwner, type OwnerId, requireUser } from './owner.ts';
import { readUrl } from './address.ts';
import { createSecret, readWanted, writeSecret } from './rules.ts';
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

interface Dependencies {
  readonly db: Database;
  readonly idempotency: IdempotencyStore;
  readonly eventOutbox: EventOutbox;
  readonly config: Pick<EventsConfig, 'WEBHOOK_ALLOWED_HOSTS'>;
}

type EndpointHandlers = Pick<Handlers<typeof events>, keyof typeof endpointRpcs>;
type Update = RequestOf<(typeof events)['rpcs']['updateEndpoint']>;

export function createEndpointHandlers(deps: Dependencies): EndpointHandlers {
  const { db, idempotency, eventOutbox, config } = deps;
  const allowed = config.WEBHOOK_ALLOWED_HOSTS;
  const page = async (
    ownerId: OwnerId,
    { account_id: accountId, limit = usualEndpoints, offset = 0 }: RequestOf<(typeof events)['rpcs']['listEndpoints']>,
  ): Promise<RawJson> => {
    if (accountId !== undefined && !isPossibleId(accountId)) return rawJson('{"items":[]}');
    return rawJson((await listEndpoints(db, { ownerId, accountId, limit, offset })).body);
  };
  return {
    createEndpoint: async (request, context) => {
      const { accountId, key } = requireUser(context.actor);
      const wanted = { url: readUrl(request.url, allowed), types: readWanted(request.types), description: request.description ?? '' };
      const secret = createSecret();
      const made = await idempotency.run(context, request, (tx) =>
        create(tx, { accountId, createdByKeyId: key?.id ?? null, ...wanted, secret }, context),
      );
      return withSecret(made, secret);
    },
    listEndpoints: (request, { actor }) => page(findOwner(actor), request),
    getEndpoint: async ({ endpoint_id: id }, { actor }) => rawJson(await show(db, id, findOwner(actor))),
    updateEndpoint: (request, context) =>
      idempotency.run(context, request, (tx) => update(tx, { eventOutbox, allowed, ownerId: findOwner(context.actor) }, request, context)),
    deleteEndpoint: ({ endpoint_id: id }, context) =>
      db.transaction(async (tx) => {
        await lock(tx, id, findOwner(context.actor));
        await markDeleted(tx, { id });
        recordAudit(tx, context, { target: { type: 'webhook_endpoint', id } });
        return {};
      }),
    rotateEndpointSecret: async (request, context) => {
      const { endpoint_id: id, overlap_seconds: overlapSeconds = usualOverlapSeconds } = request;
      const secret = createSecret();
      const rotated = await idempotency.run(context, request, async (tx) => {
        await lock(tx, id, findOwner(context.actor));
        await rotateSecret(tx, { id, secret, overlapSeconds });
        recordAudit(tx, context, { target: { type: 'webhook_endpoint', id }, changes: { overlap_seconds: overlapSeconds } });
        return rawJson(await show(tx, id, null));
      });
      return withSecret(rotated, secret);
    },
    listEndpointsOfKey: async ({ account_id: accountId, key_id: keyId }) => {
      const rows = await listEndpointsOfKey(db, { accountId, keyId });
      return { items: rows.map(({ url, ...endpoint }) => ({ ...endpoint, url_host: new URL(url).host })) };
    },
    listAllEndpoints: (request) => page(null, request),
    showEndpoint: async ({ endpoint_id: id }) => rawJson(await show(db, id, null)),
    switchEndpoint: ({ endpoint_id: id, disabled }, context) =>
      db.transaction((tx) =>
        update(tx, { eventOutbox, allowed, ownerId: null }, { endpoint_id: id, disabled }, context).then(({ body }) => body),
      ),
  };
}

async function create(
  tx: Tx,
  wanted: { accountId: number; createdByKeyId: string | null; url: string; types: string[] | null; description: string; secret: Buffer },
  context: AuditContext,
): Promise<RawJson> {
  const { accountId, types } = wanted;
  await lockAccount(tx, { accountId });
  if ((await countEndpoints(tx, { accountId })).count >= maxEndpoints)
    throw appError('conflict', 'too_many_endpoints', `The account has ${maxEndpoints} endpoints; delete one first.`);
  const { id } = await insertEndpoint(tx, wanted);
  recordAudit(tx, context, { target: { type: 'webhook_endpoint', id }, changes: { account_id: accountId, types } });
  return rawJson(await show(tx, id, null));
}

interface Updating {
  readonly eventOutbox: EventOutbox;
  readonly allowed: string;
  readonly ownerId: OwnerId;
}

async function update(
  tx: Tx,
  { eventOutbox, allowed, ownerId }: Updating,
  request: Update,
  context: AuditContext,
): Promise<TaggedReply<RawJson>> {
  const { endpoint_id: id, if_match: ifMatch, disabled, ...given } = request;
  const before = await lock(tx, id, ownerId);
  if (ifMatch !== undefined && ifMatch !== null && !matchesEntityTag(ifMatch, entityTag(await show(tx, id, null)), 'strong'))
    throw new AppError({ code: 'precondition_failed', message: 'If-Match names another representation than the present one.' });
  const { url, types, description } = before;
  const after = {
    url: given.url === undefined ? url : readUrl(given.url, allowed),
    types: given.types === undefined ? types : readWanted(given.types),
    description: given.description ?? description,
  };
  const changed = changedFields({ url, types, description }, after);
  if (changed.length > 0) await saveEndpoint(tx, { id, ...after });
  if (disabled !== undefined && disabled !== before.disabled) {
    changed.push('disabled');
    if (disabled) await disableEndpoint(eventOutbox, tx, id, 'requested');
    else await enable(tx, { id });
  }
  if (changed.length > 0) recordAudit(tx, context, { target: { type: 'webhook_endpoint', id }, changes: { fields: changed } });
  const body = await show(tx, id, null);
  return withEtag(rawJson(body), entityTag(body));
}

/** @throws AppError 404 */
async function lock(tx: Tx, id: number, ownerId: OwnerId): Promise<EndpointRow> {
  const row = isPossibleId(id) ? await lockEndpoint(tx, { id, ownerId }) : undefined;
  if (row === undefined) throw notFound();
  return row;
}

/** JSON of `{endpoint}`. @throws AppError 404 */
async function show(on: Queryable, id: number, ownerId: OwnerId): Promise<string> {
  const row = isPossibleId(id) ? await getEndpoint(on, { id, ownerId }) : undefined;
  if (row === undefined) throw notFound();
  return row.body;
}

/** The answer with the secret; one that is given again for its key has none (I4). */
function withSecret(reply: RawJson | TaggedReply<RawJson>, secret: Buffer): RawJson | TaggedReply<RawJson> {
  if (reply instanceof TaggedReply) return reply;
  const body = Buffer.from(reply.bytes).toString('utf8');
  return rawJson(`${body.slice(0, -1)},"secret":${JSON.stringify(writeSecret(secret))}}`);
}
