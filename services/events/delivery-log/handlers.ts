/** What was sent to an endpoint, and sending again (rules/events#deliveries; V5, V10, V11). */
import { recordAudit } from '#libs/audit';
import { isPossibleId, type RequestOf } from '#libs/contract';
import { appError, badRequest, notFound } from '#libs/errors';
import type { IdempotencyStore } from '#libs/idempotency';
import { type Bus, type Handlers, jsonPage, rawJson, type RawJson, type RequestContext } from '#libs/nats';
import type { Database, Tx } from '#libs/orm';
import { formatInstant, parseInstant } from '#libs/time';
import type { events } from '../contract.ts';
import { type DeliveryScheduler, scheduleEndpoint } from '../deliveries/index.ts';
import { findOwner, getEndpoint, lockEndpoint, type OwnerId } from '../endpoints/index.ts';
import { type EventWriter, everything, findShown, findViewer, type Viewer } from '../feed/index.ts';
import { type deliveryRpcs, usualDeliveries } from './contract.ts';
import { findPositionBefore, getDelivery, insertTest, listDeliveries, type ListedDelivery, recoverFrom, sendAgain } from './statements.ts';

interface Dependencies {
  readonly db: Database;
  readonly bus: Bus;
  readonly idempotency: IdempotencyStore;
  readonly scheduler: Pick<DeliveryScheduler, 'wake'>;
  readonly findWriter: () => Promise<EventWriter>;
}

type DeliveryHandlers = Pick<Handlers<typeof events>, keyof typeof deliveryRpcs>;
type Rpcs = (typeof events)['rpcs'];

/** Users see their own endpoints and what they may read; operators see everything, and have no idempotency keys. */
interface Audience<Reply> {
  readonly ownerOf: (context: RequestContext) => OwnerId;
  readonly viewerOf: (context: RequestContext) => Promise<Viewer>;
  readonly change: (
    context: RequestContext,
    request: Readonly<Record<string, unknown>>,
    work: (tx: Tx) => Promise<RawJson>,
  ) => Promise<Reply>;
}

/** Pages that are read for one, where most deliveries are hidden. */
const maxPages = 20;
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export function createDeliveryHandlers(deps: Dependencies): DeliveryHandlers {
  const { db, idempotency, bus } = deps;
  const users = createActions(deps, {
    ownerOf: ({ actor }) => findOwner(actor),
    viewerOf: (context) => findViewer(bus, context),
    change: (context, request, work) => idempotency.run(context, request, work),
  });
  const operators = createActions(deps, {
    ownerOf: () => null,
    viewerOf: async () => everything,
    change: (_context, _request, work) => db.transaction(work),
  });
  return {
    listDeliveries: users.list,
    redeliver: users.redeliver,
    testEndpoint: users.test,
    recoverEndpoint: users.recover,
    listAllDeliveries: operators.list,
    redeliverAny: operators.redeliver,
    testAnyEndpoint: operators.test,
    recoverAnyEndpoint: operators.recover,
  };
}

function createActions<Reply>(deps: Dependencies, audience: Audience<Reply>) {
  const { findWriter, scheduler } = deps;
  /** A change of an enabled endpoint after which something is to be sent. */
  const changeQueue = async (
    request: { readonly endpoint_id: number },
    context: RequestContext,
    work: (tx: Tx, ownerId: OwnerId) => Promise<RawJson>,
  ): Promise<Reply> => {
    const { endpoint_id: id } = request;
    const ownerId = audience.ownerOf(context);
    const reply = await audience.change(context, request, async (tx) => {
      const endpoint = isPossibleId(id) ? await lockEndpoint(tx, { id, ownerId }) : undefined;
      if (endpoint === undefined) throw notFound();
      if (endpoint.disabled) throw appError('conflict', 'endpoint_disabled', 'The endpoint is disabled; enable it first.');
      const body = await work(tx, ownerId);
      await scheduleEndpoint(tx, { id });
      return body;
    });
    scheduler.wake();
    return reply;
  };
  return {
    list: (request: RequestOf<Rpcs['listDeliveries']>, context: RequestContext): Promise<RawJson> =>
      listPage(deps, request, audience.ownerOf(context), context, () => audience.viewerOf(context)),

    test: async (request: RequestOf<Rpcs['testEndpoint']>, context: RequestContext): Promise<Reply> => {
      const { endpoint_id: endpointId } = request;
      const writer = await findWriter();
      return await changeQueue(request, context, async (tx) => {
        const { id } = await insertTest(tx, { endpointId });
        recordAudit(tx, context, { target: { type: 'webhook_endpoint', id: endpointId } });
        return await readOne(tx, writer, endpointId, id);
      });
    },

    recover: async (request: RequestOf<Rpcs['recoverEndpoint']>, context: RequestContext): Promise<Reply> => {
      const { endpoint_id: id } = request;
      const since = readSince(request.since);
      return await changeQueue(request, context, async (tx, ownerId) => {
        const { position } = await findPositionBefore(tx, { since });
        if (position !== null) await recoverFrom(tx, { endpointId: id, position });
        recordAudit(tx, context, { target: { type: 'webhook_endpoint', id }, changes: { since } });
        return rawJson((await getEndpoint(tx, { id, ownerId }))?.body ?? '');
      });
    },

    redeliver: async (request: RequestOf<Rpcs['redeliver']>, context: RequestContext): Promise<Reply> => {
      const { endpoint_id: endpointId, delivery_id: id } = request;
      // Before the transaction: a connection and the endpoint's lock are not held while another service is asked.
      const [writer, isVisible] = await Promise.all([findWriter(), isShown(deps, request, context, () => audience.viewerOf(context))]);
      return await changeQueue(request, context, async (tx) => {
        if (!isVisible) throw notFound();
        await sendAgain(tx, { id });
        recordAudit(tx, context, { target: { type: 'webhook_delivery', id }, changes: { endpoint_id: endpointId } });
        return await readOne(tx, writer, endpointId, id);
      });
    },
  };
}

function readSince(text: string): string {
  const parsed = parseInstant(text);
  if (parsed.kind === 'invalid') throw badRequest('since is not an instant.');
  return formatInstant(parsed.instant);
}

/** Whether the endpoint has the delivery, and the caller may read its event. */
async function isShown(
  deps: Dependencies,
  { endpoint_id: endpointId, delivery_id: id }: RequestOf<Rpcs['redeliver']>,
  context: RequestContext,
  findWho: () => Promise<Viewer>,
): Promise<boolean> {
  const delivery = isPossibleId(endpointId) && uuid.test(id) ? await getDelivery(deps.db, { endpointId, id }) : undefined;
  return delivery !== undefined && (await filterVisibleMatches(deps, [delivery], context, await findWho())).length > 0;
}

/** @throws AppError 404 */
async function readOne(tx: Tx, writer: EventWriter, endpointId: number, id: string): Promise<RawJson> {
  const delivery = await getDelivery(tx, { endpointId, id });
  if (delivery === undefined) throw notFound();
  return rawJson(`{"delivery":${describe(writer, delivery)}}`);
}

async function listPage(
  deps: Dependencies,
  { endpoint_id: endpointId, status, limit = usualDeliveries, cursor }: RequestOf<Rpcs['listDeliveries']>,
  ownerId: OwnerId,
  context: RequestContext,
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
  for (let pages = 0; isMore && items.length < limit && pages < maxPages; pages++) {
    const wanted = limit - items.length;
    const rows = await listDeliveries(db, { endpointId, status, before, limit: wanted + 1 });
    isMore = rows.length > wanted;
    const page = rows.slice(0, wanted);
    items.push(...(await filterVisibleMatches(deps, page, context, viewer)));
    before = page.at(-1)?.id ?? before;
  }
  const writer = await findWriter();
  return jsonPage(
    items.map((item) => describe(writer, item)),
    isMore ? (before ?? null) : null,
  );
}

/** Tests, and deliveries of events that the caller may read (V10). */
async function filterVisibleMatches(
  { db, bus }: Dependencies,
  rows: readonly ListedDelivery[],
  context: RequestContext,
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
