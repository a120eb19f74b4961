/** Operations on deliveries: list, redelivery, test and recovery (rules/events#deliveries; V5, V10, V11). */
import { recordAudit } from '#libs/infrastructure/audit';
import { isPossibleId, type RequestOf } from '#libs/infrastructure/contract';
import { appError, badRequest, notFound } from '#libs/infrastructure/errors';
import { type Handlers, jsonPage, rawJson, type RawJson, type RequestContext } from '#libs/infrastructure/nats';
import type { Tx } from '#libs/infrastructure/orm';
import { formatInstant, parseInstant } from '#libs/infrastructure/time';
import type { events } from '../contract.ts';
import { scheduleEndpoint } from '../deliveries/index.ts';
import type { Dependencies } from '../dependencies.ts';
import { findOwner, getEndpoint, lockEndpoint, type OwnerId } from '../endpoints/index.ts';
import { type EventSerializer, findReadable, findViewer, type Viewer } from '../feed/index.ts';
import { type deliveryRpcs, defaultDeliveryLimit } from './contract.ts';
import {
  findPositionBefore,
  getDelivery,
  insertTest,
  listDeliveries,
  type ListedDelivery,
  redeliver,
  startRecovery,
} from './statements.ts';

type DeliveryDependencies = Pick<Dependencies, 'bus' | 'db' | 'findSerializer' | 'idempotency' | 'scheduler'>;

type DeliveryHandlers = Pick<Handlers<typeof events>, keyof typeof deliveryRpcs>;
type Rpcs = (typeof events)['rpcs'];

/** Maximum number of pages that are read to fill one page, when most deliveries are hidden. */
const maxPages = 20;
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export function createDeliveryHandlers(deps: DeliveryDependencies): DeliveryHandlers {
  const { bus, findSerializer, idempotency, scheduler } = deps;
  /** Changes the queue of an enabled endpoint, then schedules the endpoint. */
  const changeQueue = async (
    request: { readonly endpoint_id: number },
    context: RequestContext,
    work: (tx: Tx, ownerId: OwnerId) => Promise<RawJson>,
  ) => {
    const { endpoint_id: id } = request;
    const ownerId = findOwner(context.actor);
    const reply = await idempotency.run(context, request, async (tx) => {
      const endpoint = isPossibleId(id) ? await lockEndpoint(tx, { id, ownerId }) : undefined;
      if (endpoint === undefined) throw notFound();
      if (endpoint.disabled)
        throw appError('conflict', 'endpoint_disabled', 'The endpoint is disabled. Enable it first.');
      const body = await work(tx, ownerId);
      await scheduleEndpoint(tx, { id });
      return body;
    });
    scheduler.wake();
    return reply;
  };
  return {
    listDeliveries: (request, context) =>
      listPage(deps, request, findOwner(context.actor), context, () => findViewer(bus, context)),

    testEndpoint: async (request, context) => {
      const { endpoint_id: endpointId } = request;
      const serializer = await findSerializer();
      return await changeQueue(request, context, async (tx) => {
        const { id } = await insertTest(tx, { endpointId });
        recordAudit(tx, context, { target: { type: 'webhook_endpoint', id: endpointId } });
        return await readOne(tx, serializer, endpointId, id);
      });
    },

    recoverEndpoint: async (request, context) => {
      const { endpoint_id: id } = request;
      const since = readSince(request.since);
      return await changeQueue(request, context, async (tx, ownerId) => {
        const { position } = await findPositionBefore(tx, { since });
        if (position !== null) await startRecovery(tx, { endpointId: id, position });
        recordAudit(tx, context, { target: { type: 'webhook_endpoint', id }, changes: { since } });
        return rawJson((await getEndpoint(tx, { id, ownerId }))?.body ?? '');
      });
    },

    redeliver: async (request, context) => {
      const { endpoint_id: endpointId, delivery_id: id } = request;
      // Other services are called before the transaction, so that their response time does not occupy a connection or
      // lock the endpoint's row.
      const [serializer, visible] = await Promise.all([
        findSerializer(),
        findIsVisible(deps, request, context, () => findViewer(bus, context)),
      ]);
      return await changeQueue(request, context, async (tx) => {
        if (!visible) throw notFound();
        await redeliver(tx, { id });
        recordAudit(tx, context, { target: { type: 'webhook_delivery', id }, changes: { endpoint_id: endpointId } });
        return await readOne(tx, serializer, endpointId, id);
      });
    },
  };
}

function readSince(text: string): string {
  const parsed = parseInstant(text);
  if (parsed.kind === 'invalid') throw badRequest('`since` must be a date-time.');
  return formatInstant(parsed.instant);
}

/** Returns whether the delivery exists and the caller can read its event. */
async function findIsVisible(
  deps: DeliveryDependencies,
  { endpoint_id: endpointId, delivery_id: id }: RequestOf<Rpcs['redeliver']>,
  context: RequestContext,
  resolveViewer: () => Promise<Viewer>,
): Promise<boolean> {
  const delivery =
    isPossibleId(endpointId) && uuid.test(id) ? await getDelivery(deps.db, { endpointId, id }) : undefined;
  return delivery !== undefined && (await filterVisible(deps, [delivery], context, await resolveViewer())).length > 0;
}

/** Returns the JSON of a delivery. @throws AppError 404 */
async function readOne(tx: Tx, serializer: EventSerializer, endpointId: number, id: string): Promise<RawJson> {
  const delivery = await getDelivery(tx, { endpointId, id });
  if (delivery === undefined) throw notFound();
  return rawJson(`{"delivery":${describe(serializer, delivery)}}`);
}

async function listPage(
  deps: DeliveryDependencies,
  { endpoint_id: endpointId, status, limit = defaultDeliveryLimit, cursor }: RequestOf<Rpcs['listDeliveries']>,
  ownerId: OwnerId,
  context: RequestContext,
  resolveViewer: () => Promise<Viewer>,
): Promise<RawJson> {
  const { db, findSerializer } = deps;
  if (!isPossibleId(endpointId) || (await getEndpoint(db, { id: endpointId, ownerId })) === undefined) throw notFound();
  if (cursor !== undefined && (!uuid.test(cursor) || (await getDelivery(db, { endpointId, id: cursor })) === undefined))
    throw badRequest('`cursor` is invalid.');
  const viewer = await resolveViewer();
  const items: ListedDelivery[] = [];
  let before = cursor;
  let hasMore = true;
  for (let pages = 0; hasMore && items.length < limit && pages < maxPages; pages++) {
    const remaining = limit - items.length;
    const rows = await listDeliveries(db, { endpointId, status, before, limit: remaining + 1 });
    hasMore = rows.length > remaining;
    const page = rows.slice(0, remaining);
    items.push(...(await filterVisible(deps, page, context, viewer)));
    before = page.at(-1)?.id ?? before;
  }
  const serializer = await findSerializer();
  return jsonPage(
    items.map((item) => describe(serializer, item)),
    hasMore ? (before ?? null) : null,
  );
}

/** Returns the tests, and the deliveries of events that the caller can read (V10). */
async function filterVisible(
  { db, bus }: DeliveryDependencies,
  rows: readonly ListedDelivery[],
  context: RequestContext,
  viewer: Viewer,
): Promise<ListedDelivery[]> {
  const events = rows.flatMap(({ position, occurred_at: at }) =>
    position === null ? [] : [{ position, occurred_at: at }],
  );
  const readable = viewer.seesAll ? undefined : await findReadable({ db, bus, context }, viewer, events);
  return rows.filter(({ position }) => position === null || readable === undefined || readable.has(position));
}

/** Returns the JSON of a delivery. JSON from the database is inserted unchanged, without parsing it. */
function describe(serializer: EventSerializer, { id, event_id: eventId, body }: ListedDelivery): string {
  return `{"id":"${id}","event_id":"${serializer.publicId(eventId ?? id)}",${body.slice(1)}`;
}
