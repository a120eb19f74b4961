/**
 * Dispatches the deliveries of one endpoint, from the queue through the attempt to its outcome (V6, V7). Nothing is
 * buffered in memory: a delivery is claimed when a request can start, and the account's read access is checked at that
 * time.
 */
import { type Outbound, OutboundError, type OutboundFailure, type OutboundReply } from '#libs/infrastructure/outbound';
import { formatInstant } from '#libs/infrastructure/time';
import type { Dependencies } from '../dependencies.ts';
import type { DeliveryAttempt } from '../delivery-log/contract.ts';
import { disableEndpoint } from '../endpoints/index.ts';
import { type EventSerializer, type FoundEvent, parseTypes } from '../feed/index.ts';
import type { RecipientAccessCache } from './recipient-access.ts';
import { failureLimitSeconds, retryDelayMs, signedHeaders } from './rules.ts';
import {
  claimDue,
  type DeliveryRow,
  dropDeliveries,
  type EndpointLease,
  insertDeliveries,
  type LeasedEndpoint,
  noteFailure,
  readLeased,
  recordFailure,
  recordSuccess,
} from './statements.ts';

/** Maximum number of concurrent requests to an endpoint. */
const maxRequests = 4;
/** A claimed delivery without an outcome is sent again after this time, which is longer than an attempt can take. */
const claimMs = 60_000;
/** Number of events that become deliveries in one statement. */
const pageSize = 50;
/** Time after which the dispatcher ends, so that other endpoints are dispatched. */
const timeSliceMs = 60_000;
/** While requests run, the queue is read again at this interval, and whenever the feed has grown. */
const pollMs = 1_000;
/** An attempt fails when the endpoint does not respond within this time. */
const responseTimeoutMs = 15_000;
/** Maximum number of bytes that are read of a response. The body is not stored. */
const maxResponseBytes = 65_536;

export interface DispatcherDependencies extends Pick<
  Dependencies,
  'db' | 'eventOutbox' | 'feedChanges' | 'findSerializer' | 'logger'
> {
  readonly outbound: Outbound;
  readonly metrics: { attempted(attempt: DeliveryAttempt, delayMs: number | undefined): void };
  readonly access: RecipientAccessCache;
  readonly stopping: AbortSignal;
}

interface Delivery extends DeliveryRow {
  /** Undefined for a test. */
  readonly event: FoundEvent | undefined;
}

export class EndpointDispatcher {
  readonly lease: EndpointLease;
  readonly #deps: DispatcherDependencies;
  readonly #requests = new Set<Promise<void>>();
  #lastRecord: Promise<unknown> = Promise.resolve();
  #isWaiting = false;

  constructor(deps: DispatcherDependencies, lease: EndpointLease) {
    this.#deps = deps;
    this.lease = lease;
  }

  /** True while the dispatcher only waits for responses. */
  get isWaiting(): boolean {
    return this.#isWaiting;
  }

  /**
   * Runs until the queue is empty, the time slice is over or the process stops. Resolves after the last response.
   * @returns whether the queue is empty. @throws when the queue cannot be read
   */
  async run(): Promise<boolean> {
    const { feedChanges, stopping } = this.#deps;
    const endMs = performance.now() + timeSliceMs;
    const canStart = (): boolean => !stopping.aborted && performance.now() < endMs;
    try {
      for (;;) {
        const { count } = feedChanges;
        const hasCapacity = canStart() && this.#requests.size < maxRequests;
        if (hasCapacity && (await this.#startRequests())) continue;
        if (this.#requests.size === 0) return canStart();
        await this.#wait([...this.#requests, ...(hasCapacity ? [feedChanges.waitForChange(count, pollMs)] : [])]);
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

  /** Starts requests for the next deliveries. @returns false when the queue is empty */
  async #startRequests(): Promise<boolean> {
    const found = await this.#findDeliveries(maxRequests - this.#requests.size);
    if (found === undefined) return false;
    for (const delivery of found.deliveries) {
      const request = this.#deliver(found.endpoint, delivery).finally(() => this.#requests.delete(request));
      this.#requests.add(request);
    }
    return true;
  }

  /**
   * Returns up to `limit` deliveries: due deliveries first, then new events, then events to recover. Returns undefined
   * when the queue is empty.
   */
  async #findDeliveries(
    limit: number,
  ): Promise<{ endpoint: LeasedEndpoint; deliveries: readonly Delivery[] } | undefined> {
    const { db, stopping } = this.#deps;
    while (!stopping.aborted) {
      const endpoint = await readLeased(db, this.lease);
      if (endpoint === undefined) return undefined;
      const due = endpoint.has_due ? await this.#claimDue(endpoint, limit) : undefined;
      const deliveries = due ?? (await this.#queueEvents(endpoint, limit));
      if (deliveries === undefined) return undefined;
      if (deliveries.length > 0) return { endpoint, deliveries };
    }
    return undefined;
  }

  /**
   * Claims due deliveries and drops those that the account can no longer read. Returns undefined when no delivery is
   * due.
   */
  async #claimDue({ id, account_id: accountId }: LeasedEndpoint, limit: number): Promise<Delivery[] | undefined> {
    const { db, access } = this.#deps;
    const due = await claimDue(db, { id, limit, claimMs });
    const events = due.flatMap(({ position, occurred_at: at }) =>
      position === null ? [] : [{ position, occurred_at: at }],
    );
    const readable = events.length === 0 ? new Map<number, FoundEvent>() : await access.findReadable(accountId, events);
    const isReadable = ({ position }: DeliveryRow): boolean => position === null || readable.has(position);
    const hidden = due.filter((row) => !isReadable(row));
    if (hidden.length > 0) await dropDeliveries(db, { ids: hidden.map(({ id: hiddenId }) => hiddenId) });
    return due.length === 0
      ? undefined
      : due.filter(isReadable).map((row) => ({ ...row, event: readable.get(row.position ?? 0) }));
  }

  /**
   * Turns new events into deliveries and advances the position of the endpoint. Without new events, continues a
   * recovery.
   * @returns the deliveries to send first; undefined when there are no events to read
   */
  async #queueEvents(endpoint: LeasedEndpoint, limit: number): Promise<Delivery[] | undefined> {
    const {
      account_id: accountId,
      types: names,
      position,
      last_position: last,
      recover_from: from,
      recover_to: to,
    } = endpoint;
    const isRecovery = position >= last;
    const [after, upTo] = isRecovery ? [from, to] : [position, last];
    if (after === null || upTo === null) return undefined;
    const types = names === null ? null : (parseTypes(names.join(',')) ?? []);
    const filter = { types, subjectType: null, subjectId: null, limit: pageSize };
    const { items, reached } = await this.#deps.access.findPage(accountId, filter, { after, upTo });
    const rows = await insertDeliveries(this.#deps.db, {
      ...this.lease,
      reached,
      recoverFrom: isRecovery ? after : null,
      positions: items.map((item) => item.position),
      occurredAt: items.map(({ occurred_at: at }) => at),
      limit,
      claimMs,
    });
    const events = new Map(items.map((event) => [event.position, event]));
    return rows.map((row) => ({ ...row, event: events.get(row.position ?? 0) }));
  }

  /** Makes one attempt and records its outcome. Never rejects: a delivery without a recorded outcome is sent again. */
  async #deliver(endpoint: LeasedEndpoint, delivery: Delivery): Promise<void> {
    const { findSerializer, outbound, metrics, logger } = this.#deps;
    try {
      const serializer = await findSerializer();
      const { event } = delivery;
      const { url, secret, previous_secret: previous } = endpoint;
      const { attempt, drained } = await post(outbound, {
        url,
        id: serializer.publicId(event?.id ?? delivery.id),
        body: event === undefined ? stringifyTest(serializer, endpoint, delivery) : serializer.stringify(event),
        secrets: previous === null ? [secret] : [secret, previous],
      });
      const isFirst = delivery.tries === 0 && event !== undefined;
      metrics.attempted(attempt, isFirst ? Date.parse(attempt.at) - Date.parse(event.occurred_at) : undefined);
      // Outcomes are recorded in the order of the responses, because a failure after a success starts a new series of
      // failures.
      const recorded = this.#lastRecord.then(() => this.#record(endpoint.id, delivery, attempt));
      this.#lastRecord = recorded.catch(() => undefined);
      await recorded;
      // A slow response body occupies the request until it is read, so that an endpoint never has a fifth connection.
      await drained;
    } catch (error) {
      logger.warn(
        { err: error, endpointId: endpoint.id, deliveryId: delivery.id },
        'webhooks: outcome not recorded, sending again',
      );
    }
  }

  async #record(endpointId: number, { id, tries }: Delivery, attempt: DeliveryAttempt): Promise<void> {
    const { db, eventOutbox } = this.#deps;
    const attemptJson = JSON.stringify(attempt);
    if (attempt.error === null) return await recordSuccess(db, { id, endpointId, attempt: attemptJson });
    const isRemoved = attempt.status_code === 410;
    const retryMs = isRemoved ? null : (retryDelayMs(tries + 1) ?? null);
    await db.transaction(async (tx) => {
      const failing = await noteFailure(tx, { id: endpointId });
      const isOverLimit = (failing?.failing_seconds ?? 0) > failureLimitSeconds;
      if (isRemoved || isOverLimit) await disableEndpoint(eventOutbox, tx, endpointId, isRemoved ? 'gone' : 'failing');
      await recordFailure(tx, { id, retryMs, attempt: attemptJson });
    });
  }
}

/** Returns the JSON of a test event, which is not in the feed (V11). */
function stringifyTest(serializer: EventSerializer, { id, position }: LeasedEndpoint, delivery: DeliveryRow): string {
  return JSON.stringify({
    id: serializer.publicId(delivery.id),
    type: 'webhook_endpoint.test',
    occurred_at: delivery.occurred_at,
    subject: { type: 'webhook_endpoint', id },
    data: {},
    cursor: serializer.cursors.write(position),
  });
}

const attemptErrorOf: Readonly<Record<OutboundFailure, NonNullable<DeliveryAttempt['error']>>> = {
  timeout: 'timeout',
  connect: 'connection_failed',
  forbidden_address: 'forbidden_address',
  invalid_url: 'connection_failed',
  too_large: 'connection_broken',
  aborted: 'connection_broken',
  broken: 'connection_broken',
};

interface Message {
  readonly url: string;
  readonly id: string;
  readonly body: string;
  readonly secrets: readonly Uint8Array[];
}

interface Posted {
  readonly attempt: DeliveryAttempt;
  /** Resolves when the connection is free or closed. Never rejects. */
  readonly drained: Promise<void>;
}

/**
 * Sends the request without following redirects. The result includes failures of the endpoint. @throws any other error
 */
async function post(outbound: Outbound, { url, id, body, secrets }: Message): Promise<Posted> {
  const atMs = Date.now();
  const startedMs = performance.now();
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'Coherence-Webhooks/1',
    ...signedHeaders(id, atMs, body, secrets),
  };
  const finish = (status: number | null, error: DeliveryAttempt['error']): DeliveryAttempt => ({
    at: formatInstant(BigInt(atMs) * 1000n),
    status_code: status,
    error,
    duration_ms: Math.round(performance.now() - startedMs),
  });
  try {
    const reply = await outbound.request({
      method: 'POST',
      url,
      headers,
      body,
      timeoutMs: responseTimeoutMs,
      maxBytes: maxResponseBytes,
    });
    const { status } = reply;
    const error = status >= 200 && status < 300 ? null : status >= 300 && status < 400 ? 'redirect' : 'status';
    return { attempt: finish(status, error), drained: drain(reply) };
  } catch (error) {
    if (error instanceof OutboundError)
      return { attempt: finish(null, attemptErrorOf[error.kind]), drained: Promise.resolve() };
    throw error;
  }
}

/** Reads the response body to its end, so that the connection can be reused; discards a body that is too long. */
async function drain(reply: OutboundReply): Promise<void> {
  try {
    for await (const _chunk of reply.body);
  } catch {
    reply.discard();
  }
}
