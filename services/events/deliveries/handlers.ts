/** What was sent to an endpoint, and sending again (rules/events#deliveries; V5, V10, V11). */
import { type AuditContext, recordAudit } from '#libs/audit';
import { isPossibleId, type RequestOf } from '#libs/contract';
import { appError, badRequest, notFound } from '#libs/errors';
import type { IdempotencyStore } from '#libs/idempotency';
import type { Jobs } from '#libs/jobs';
import { type Bus, type CallContext, type Handlers, jsonPage, rawJson, type RawJson } from '#libs/nats';
import type { Database, Tx } from '#libs/orm';
import { formatInstant, parseInstant } from '#libs/time';
import type { events } from '../contract.ts';
import { findOwner, getEndpoint, lockEndpoint, type OwnerId } from '../endpoints/index.ts';
import { type EventWriter, everything, findShown, findViewer, type Viewer } from '../feed/index.ts';
import { deliveryJobs, type deliveryRpcs, usualDeliveries } from './contract.ts';
import {
  findPositionBefore,
  getDelivery,
  insertTest,
  listDeliveries,
  type ListedDelivery,
  recoverFrom,
  sendAgain,
} from './statements/log.ts';

interface Dependencies {
  readonly db: Database;
  readonly bus: Bus;
  readonly jobs: Pick<Jobs, 'enqueue'>;
  readonly idempotency: IdempotencyStore;
  readonly findWriter: () => Promise<EventWriter>;
}

type DeliveryHandlers = Pick<Handlers<typeof events>, keyof typeof deliveryRpcs>;
type ListRequest = RequestOf<(typeof events)['rpcs']['listDeliveries']>;
type RedeliverRequest = RequestOf<(typeof events)['rpcs']['redeliver']>;

/** Pages that are looked through for one, where most is hidden. */
const mostPages = 20;
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export function createDeliveryHandlers(deps: Dependencies): DeliveryHandlers {
  const { db, idempotency, bus, findWriter } = deps;
  const test = async (tx: Tx, writer: EventWriter, id: number, ownerId: OwnerId, context: AuditContext): Promise<RawJson> => {
    await requireEnabled(tx, id, ownerId);
    const made = await insertTest(tx, { endpointId: id });
    await deps.jobs.enqueue(tx, deliveryJobs.deliver, { endpoint_id: id });
    recordAudit(tx, context, { target: { type: 'webhook_endpoint', id } });
    return readOne(tx, writer, id, made.id);
  };
  const recover = async (tx: Tx, id: number, ownerId: OwnerId, since: string, context: AuditContext): Promise<RawJson> => {
    await requireEnabled(tx, id, ownerId);
    const { position } = await findPositionBefore(tx, { since });
    if (position !== null) await recoverFrom(tx, { endpointId: id, position });
    await deps.jobs.enqueue(tx, deliveryJobs.deliver, { endpoint_id: id });
    recordAudit(tx, context, { target: { type: 'webhook_endpoint', id }, changes: { since } });
    const row = await getEndpoint(tx, { id, ownerId });
    return rawJson(row?.body ?? '');
  };
  const redeliver = async (
    tx: Tx,
    { writer, isVisible }: { readonly writer: EventWriter; readonly isVisible: boolean },
    { endpoint_id: endpointId, delivery_id: id }: RedeliverRequest,
    ownerId: OwnerId,
    context: AuditContext,
  ): Promise<RawJson> => {
    await requireEnabled(tx, endpointId, ownerId);
    if (!isVisible) throw notFound();
    await sendAgain(tx, { id });
    await deps.jobs.enqueue(tx, deliveryJobs.deliver, { endpoint_id: endpointId });
    recordAudit(tx, context, { target: { type: 'webhook_delivery', id }, changes: { endpoint_id: endpointId } });
    return readOne(tx, writer, endpointId, id);
  };
  // Asked before the transaction: with its connection and the endpoint's lock in hand nobody waits for another service, or for another connection.
  const look = async (request: RedeliverRequest, context: CallContext, findWho: () => Promise<Viewer>) => {
    const [writer, isVisible] = await Promise.all([findWriter(), isShown(deps, request, context, findWho)]);
    return { writer, isVisible };
  };
  return {
    listDeliveries: (request, context) => listPage(deps, request, findOwner(context.actor), context, () => findViewer(bus, context)),
    listAllDeliveries: (request, context) => listPage(deps, request, null, context, async () => everything),
    redeliver: async (request, context) => {
      const seen = await look(request, context, () => findViewer(bus, context));
      return idempotency.run(context, request, (tx) => redeliver(tx, seen, request, findOwner(context.actor), context));
    },
    redeliverAny: async (request, context) => {
      const seen = await look(request, context, async () => everything);
      return db.transaction((tx) => redeliver(tx, seen, request, null, context));
    },
    testEndpoint: async (request, context) => {
      const writer = await findWriter();
      return idempotency.run(context, request, (tx) => test(tx, writer, request.endpoint_id, findOwner(context.actor), context));
    },
    recoverEndpoint: (request, context) => {
      const since = readSince(request.since);
      return idempotency.run(context, request, (tx) => recover(tx, request.endpoint_id, findOwner(context.actor), since, context));
    },
    testAnyEndpoint: async ({ endpoint_id: id }, context) => {
      const writer = await findWriter();
      return db.transaction((tx) => test(tx, writer, id, null, context));
    },
    recoverAnyEndpoint: ({ endpoint_id: id, since }, context) => db.transaction((tx) => recover(tx, id, null, readSince(since), context)),
  };
}

function readSince(text: string): string {
  const parsed = parseInstant(text);
  if (parsed.kind === 'invalid') throw badRequest('since is not an instant.');
  return formatInstant(parsed.instant);
}

/** @throws AppError 404, 409 `endpoint_disabled` */
async function requireEnabled(tx: Tx, id: number, ownerId: OwnerId): Promise<void> {
  const endpoint = isPossibleId(id) ? await lockEndpoint(tx, { id, ownerId }) : undefined;
  if (endpoint === undefined) throw notFound();
  if (endpoint.disabled) throw appError('conflict', 'endpoint_disabled', 'The endpoint is disabled; enable it first.');
}

/** Whether the endpoint has the delivery, and the caller may read its event. */
async function isShown(
  deps: Dependencies,
  { endpoint_id: endpointId, delivery_id: id }: RedeliverRequest,
  context: CallContext,
  findWho: () => Promise<Viewer>,
): Promise<boolean> {
  const delivery = isPossibleId(endpointId) && uuid.test(id) ? await getDelivery(deps.db, { endpointId, id }) : undefined;
  return delivery !== undefined && (await keepShown(deps, [delivery], context, await findWho())).length > 0;
}

/** @throws AppError 404 */
async function readOne(tx: Tx, writer: EventWriter, endpointId: number, id: string): Promise<RawJson> {
  const delivery = await getDelivery(tx, { endpointId, id });
  if (delivery === undefined) throw notFound();
  return rawJson(`{"delivery":${describe(writer, delivery)}}`);
}

async function listPage(
  deps: Dependencies,
  { endpoint_id: endpointId, status, limit = usualDeliveries, cursor }: ListRequest,
  ownerId: OwnerId,
  context: CallContext,
  findWho: () => Promise<Viewer>,
): Promise<RawJson> {
  const { db, findWriter } = deps;
  if (!isPossibleId(endpointId) || (await getEndpoint(db, { id: endpointId, ownerId })) === undefined) throw notFound();
  if (cursor !== undefined && (!uuid.test(cursor) || (await getDelivery(db, { endpointId, id: cursor })) === undefined))
    throw badRequest('`cursor` is of no list.');
  const viewer = await findWho();
  const items: ListedDelivery[] = [];
  let before = cursor;
  let isMore = true;
  for (let pages = 0; isMore && items.length < limit && pages < mostPages; pages++) {
    const wanted = limit - items.length;
    const rows = await listDeliveries(db, { endpointId, status, before, limit: wanted + 1 });
    isMore = rows.length > wanted;
    const page = rows.slice(0, wanted);
    items.push(...(await keepShown(deps, page, context, viewer)));
    before = page.at(-1)?.id ?? before;
  }
  const writer = await findWriter();
  return jsonPage(
    items.map((item) => describe(writer, item)),
    isMore ? (before ?? null) : null,
  );
}

/** Tests, and deliveries of events that the caller may read (V10). */
async function keepShown(
  { db, bus }: Dependencies,
  rows: readonly ListedDelivery[],
  context: CallContext,
  viewer: Viewer,
): Promise<ListedDelivery[]> {
  const events = rows.flatMap(({ position, occurred_at: at }) => (position === null ? [] : [{ position, occurred_at: at }]));
  const shown = viewer.seesAll ? undefined : await findShown({ db, bus, context }, viewer, events);
  return rows.filter(({ position }) => position === null || shown === undefined || shown.has(position));
}

/** JSON that SQL made is not parsed on its way. */
function describe(writer: EventWriter, { id, event_id: eventId, body }: ListedDelivery): string {
  return `{"id":"${id}","event_id":"${writer.idOf(eventId ?? id)}",${body.slice(1)}`;
}
