/**
 * Sends one endpoint what there is to send, from the queue to the outcome of each attempt (V6, V7). Nothing waits in memory: a delivery is taken from
 * the queue when a request can begin, and what the account may read is asked then.
 */
import type { EventOutbox } from '#libs/feed';
import type { Logger } from '#libs/logger';
import type { Database } from '#libs/orm';
import type { Outbound } from '#libs/outbound';
import { disableEndpoint } from '../endpoints/index.ts';
import { type EventWriter, type FeedChangeNotifier, type FoundEvent, readTypes } from '../feed/index.ts';
import type { DeliveryAttempt } from './contract.ts';
import type { DeliveryMetrics } from './metrics.ts';
import { post } from './post.ts';
import type { RecipientAccessCache } from './recipient-access.ts';
import { delayAfter, failingTooLongSeconds } from './rules.ts';
import {
  type DeliveryRow,
  dropDeliveries,
  type EndpointLease,
  insertDeliveries,
  type LeasedEndpoint,
  noteFailure,
  readLeased,
  recordFailure,
  recordSuccess,
  takeDue,
} from './statements.ts';

const maxRequests = 4;
/** A delivery without an outcome is sent again after it; longer than an attempt can take. */
const takenMs = 60_000;
/** Events that become deliveries together. */
const pageSize = 50;
/** Then others have their turn. */
const sliceMs = 60_000;
/** Beside running requests the queue is read again when the feed has grown, and after this time. */
const pollMs = 1_000;

export interface DispatcherDependencies {
  readonly db: Database;
  readonly outbound: Outbound;
  readonly feedChanges: FeedChangeNotifier;
  readonly eventOutbox: EventOutbox;
  readonly metrics: DeliveryMetrics;
  readonly access: RecipientAccessCache;
  readonly findWriter: () => Promise<EventWriter>;
  readonly logger: Logger;
  readonly stopping: AbortSignal;
}

/** `event` is absent for a test. */
interface Delivery extends DeliveryRow {
  readonly event: FoundEvent | undefined;
}

export class EndpointDispatcher {
  readonly lease: EndpointLease;
  readonly #deps: DispatcherDependencies;
  readonly #requests = new Set<Promise<void>>();
  #recorded: Promise<unknown> = Promise.resolve();
  #isWaiting = false;

  constructor(deps: DispatcherDependencies, lease: EndpointLease) {
    this.#deps = deps;
    this.lease = lease;
  }

  /** It does nothing but wait for responses. */
  get isWaiting(): boolean {
    return this.#isWaiting;
  }

  /**
   * Ends when nothing is left to send, after its time slice, or when the process stops; in any case behind the last response.
   * @returns whether nothing is left to send. @throws when the queue cannot be read
   */
  async run(): Promise<boolean> {
    const { feedChanges, stopping } = this.#deps;
    const endMs = performance.now() + sliceMs;
    const mayBegin = (): boolean => !stopping.aborted && performance.now() < endMs;
    try {
      for (;;) {
        const { count } = feedChanges;
        const hasRoom = mayBegin() && this.#requests.size < maxRequests;
        if (hasRoom && (await this.#beginRequests())) continue;
        if (this.#requests.size === 0) return mayBegin();
        await this.#wait([...this.#requests, ...(hasRoom ? [feedChanges.waitForChange(count, pollMs)] : [])]);
      }
    } finally {
      await this.#wait([Promise.all(this.#requests)]);
    }
  }

  async #wait(changes: readonly Promise<unknown>[]): Promise<void> {
    this.#isWaiting = true;
    await Promise.race(changes);
    this.#isWaiting = false;
  }

  /** @returns whether there was something to send */
  async #beginRequests(): Promise<boolean> {
    const found = await this.#findDeliveries(maxRequests - this.#requests.size);
    if (found === undefined) return false;
    for (const delivery of found.deliveries) {
      const request = this.#deliver(found.endpoint, delivery).finally(() => this.#requests.delete(request));
      this.#requests.add(request);
    }
    return true;
  }

  /** Up to `room` deliveries: first what is due in the queue, then new events, then events to be recovered. */
  async #findDeliveries(room: number): Promise<{ endpoint: LeasedEndpoint; deliveries: readonly Delivery[] } | undefined> {
    const { db, stopping } = this.#deps;
    while (!stopping.aborted) {
      const endpoint = await readLeased(db, this.lease);
      if (endpoint === undefined) return undefined;
      const due = endpoint.has_due ? await this.#takeDue(endpoint, room) : undefined;
      const deliveries = due ?? (await this.#queueEvents(endpoint, room));
      if (deliveries === undefined) return undefined;
      if (deliveries.length > 0) return { endpoint, deliveries };
    }
    return undefined;
  }

  /** Those that the account may still read; undefined: none could be taken. */
  async #takeDue({ id, account_id: accountId }: LeasedEndpoint, limit: number): Promise<Delivery[] | undefined> {
    const { db, access } = this.#deps;
    const due = await takeDue(db, { id, limit, takenMs });
    const events = due.flatMap(({ position, occurred_at: at }) => (position === null ? [] : [{ position, occurred_at: at }]));
    const readable = events.length === 0 ? new Map<number, FoundEvent>() : await access.findReadable(accountId, events);
    const isReadable = ({ position }: DeliveryRow): boolean => position === null || readable.has(position);
    const hidden = due.filter((row) => !isReadable(row));
    if (hidden.length > 0) await dropDeliveries(db, { ids: hidden.map(({ id: hiddenId }) => hiddenId) });
    return due.length === 0 ? undefined : due.filter(isReadable).map((row) => ({ ...row, event: readable.get(row.position ?? 0) }));
  }

  /**
   * New events become deliveries, and the endpoint's position moves behind them; when there are none, events to be recovered.
   * @returns those to be sent first; undefined: nothing is left to read
   */
  async #queueEvents(endpoint: LeasedEndpoint, room: number): Promise<Delivery[] | undefined> {
    const { account_id: accountId, types: names, position, last_position: last, recover_from: from, recover_to: to } = endpoint;
    const isRecovery = position >= last;
    const [after, upTo] = isRecovery ? [from, to] : [position, last];
    if (after === null || upTo === null) return undefined;
    const types = names === null ? null : (readTypes(names.join(',')) ?? []);
    const wanted = { types, subjectType: null, subjectId: null, limit: pageSize };
    const { items, reached } = await this.#deps.access.findPage(accountId, wanted, { after, upTo });
    const rows = await insertDeliveries(this.#deps.db, {
      ...this.lease,
      reached,
      recoverFrom: isRecovery ? after : null,
      positions: items.map(({ position }) => position),
      occurredAt: items.map(({ occurred_at: at }) => at),
      limit: room,
      takenMs,
    });
    const events = new Map(items.map((event) => [event.position, event]));
    return rows.map((row) => ({ ...row, event: events.get(row.position ?? 0) }));
  }

  /** One attempt. Never rejects: a delivery whose outcome cannot be recorded is sent again. */
  async #deliver(endpoint: LeasedEndpoint, delivery: Delivery): Promise<void> {
    const { findWriter, outbound, metrics, logger } = this.#deps;
    try {
      const writer = await findWriter();
      const { event } = delivery;
      const { url, secret, previous_secret: previous } = endpoint;
      const { attempt, drained } = await post(outbound, {
        url,
        id: writer.idOf(event?.id ?? delivery.id),
        body: event === undefined ? describeTest(writer, endpoint, delivery) : writer.write(event),
        secrets: previous === null ? [secret] : [secret, previous],
      });
      const isFirst = delivery.tries === 0 && event !== undefined;
      metrics.attempted(attempt, isFirst ? Date.parse(attempt.at) - Date.parse(event.occurred_at) : undefined);
      // In the order of the responses: a failure right after a success is the first one of a row.
      const recorded = this.#recorded.then(() => this.#record(endpoint.id, delivery, attempt));
      this.#recorded = recorded.catch(() => undefined);
      await recorded;
      // A receiver that responds at once and goes on for long has this connection, and not a fifth one.
      await drained;
    } catch (error) {
      logger.warn({ err: error, endpointId: endpoint.id, deliveryId: delivery.id }, 'webhooks: delivery not recorded, it is sent again');
    }
  }

  async #record(endpointId: number, { id, tries }: Delivery, attempt: DeliveryAttempt): Promise<void> {
    const { db, eventOutbox } = this.#deps;
    const text = JSON.stringify(attempt);
    if (attempt.error === null) return await recordSuccess(db, { id, endpointId, attempt: text });
    const isGone = attempt.status_code === 410;
    const retryMs = isGone ? null : (delayAfter(tries + 1) ?? null);
    await db.transaction(async (tx) => {
      const failing = await noteFailure(tx, { id: endpointId });
      const isTooLong = (failing?.failing_seconds ?? 0) > failingTooLongSeconds;
      if (isGone || isTooLong) await disableEndpoint(eventOutbox, tx, endpointId, isGone ? 'gone' : 'failing');
      await recordFailure(tx, { id, retryMs, attempt: text });
    });
  }
}

/** The event of a test, which is not in the feed (V11). */
function describeTest(writer: EventWriter, { id, position }: LeasedEndpoint, delivery: DeliveryRow): string {
  return JSON.stringify({
    id: writer.idOf(delivery.id),
    type: 'webhook_endpoint.test',
    occurred_at: delivery.occurred_at,
    subject: { type: 'webhook_endpoint', id },
    data: {},
    cursor: writer.cursors.write(position),
  });
}
