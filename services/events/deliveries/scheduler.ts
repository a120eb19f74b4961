/**
 * Schedules endpoints when the feed grows, takes due endpoints from the queue, and dispatches each (V7). Every process
 * runs a scheduler; the lease of an endpoint determines which process sends to it.
 */
import { renewPeriodically } from '#libs/infrastructure/concurrency';
import type { Database } from '#libs/infrastructure/orm';
import type { Metrics } from '#libs/infrastructure/telemetry';
import { type DeliveryAttempt, attemptErrors } from '../delivery-log/contract.ts';
import type { Dependencies } from '../dependencies.ts';
import { readHead } from '../feed/index.ts';
import { type DispatcherDependencies, EndpointDispatcher } from './endpoint-dispatcher.ts';
import { RecipientAccessCache } from './recipient-access.ts';
import {
  acquireLeases,
  countEndpoints,
  type EndpointLease,
  leaseMs,
  releaseLease,
  renewLeases,
  scheduleLagging,
  scheduleSubscribed,
} from './statements.ts';

/**
 * Maximum number of endpoints that a process dispatches, and of those that do more than wait for responses
 * (`maxWorking`). Endpoints that do not respond therefore do not delay others.
 */
const maxDispatched = 1_500;
const maxWorking = 500;
/** The queue is read at this interval, when the feed has grown, and when an endpoint is due again. */
const pollMs = 1_000;
/** An endpoint whose queue could not be read is due again after this delay. */
const retryMs = 2_000;
/**
 * The position of an endpoint is advanced at this lag in events, although the endpoint subscribes to none of the
 * events.
 */
const maxLag = 5_000;
const scheduleLagMs = 15_000;

export type SchedulerDependencies = Pick<
  Dependencies,
  'bus' | 'db' | 'eventOutbox' | 'feedChanges' | 'findSerializer' | 'logger' | 'metrics'
> &
  Pick<DispatcherDependencies, 'outbound'>;

export class DeliveryScheduler {
  readonly #deps: DispatcherDependencies;
  readonly #stopping = new AbortController();
  readonly #dispatchers = new Map<EndpointDispatcher, Promise<void>>();
  #running: Promise<void> | undefined;
  #wakeUp = Promise.withResolvers<void>();
  /** Feed position up to which endpoints are scheduled; undefined until the first round. */
  #scheduledUpTo: number | undefined;
  #scheduledLagMs = -Infinity;

  constructor({ metrics, bus, ...deps }: SchedulerDependencies) {
    this.#deps = {
      ...deps,
      stopping: this.#stopping.signal,
      access: new RecipientAccessCache({ bus, db: deps.db }),
      metrics: measureDeliveries(metrics, deps.db),
    };
    metrics.gauge(
      'webhook_runs',
      'Endpoints to which this process sends; waiting: only for responses',
      ['state'],
      (gauge) => {
        for (const [state, dispatchers] of Object.entries(this.#counts)) gauge.set({ state }, dispatchers);
      },
    );
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Makes the scheduler read the queue at once. */
  wake(): void {
    this.#wakeUp.resolve();
  }

  /** Starts no further requests. Resolves when running requests have ended, within the time of an attempt. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.wake();
    await this.#running;
  }

  /** Numbers of dispatched endpoints of this process; `waiting` endpoints only wait for responses. */
  get #counts(): { readonly working: number; readonly waiting: number } {
    const waiting = [...this.#dispatchers.keys()].filter(({ isWaiting }) => isWaiting).length;
    return { working: this.#dispatchers.size - waiting, waiting };
  }

  async #run(): Promise<void> {
    const { logger } = this.#deps;
    const onFailure = (error: unknown): void =>
      logger.warn({ err: error }, 'webhooks: renewing endpoint leases failed');
    const stopRenewing = renewPeriodically({ leaseMs, renew: () => this.#renew(), onFailure });
    while (!this.#stopping.signal.aborted) {
      this.#wakeUp = Promise.withResolvers();
      const timer = setTimeout(() => this.wake(), pollMs);
      try {
        await this.#schedule();
        await this.#dispatchDue();
      } catch (error) {
        logger.warn({ err: error }, 'webhooks: reading the endpoint queue failed, retrying');
      }
      await this.#wakeUp.promise;
      clearTimeout(timer);
    }
    await Promise.all(this.#dispatchers.values());
    stopRenewing();
  }

  /**
   * Schedules endpoints that subscribe to new events. The first round schedules every endpoint with unread events,
   * because the changes before the start are unknown.
   */
  async #schedule(): Promise<void> {
    const { db } = this.#deps;
    const { last_position: upTo } = await readHead(db);
    const after = this.#scheduledUpTo;
    if (after !== undefined && upTo > after) await scheduleSubscribed(db, { after, upTo });
    if (performance.now() - this.#scheduledLagMs > scheduleLagMs) {
      await scheduleLagging(db, { by: after === undefined ? 0 : maxLag });
      this.#scheduledLagMs = performance.now();
    }
    this.#scheduledUpTo = upTo;
  }

  async #dispatchDue(): Promise<void> {
    const { working, waiting } = this.#counts;
    const limit = Math.min(maxWorking - working, maxDispatched - working - waiting);
    if (limit <= 0) return;
    for (const lease of await acquireLeases(this.#deps.db, { limit })) {
      const dispatcher = new EndpointDispatcher(this.#deps, lease);
      this.#dispatchers.set(dispatcher, this.#dispatch(dispatcher, lease));
    }
  }

  /** Never rejects. */
  async #dispatch(dispatcher: EndpointDispatcher, lease: EndpointLease): Promise<void> {
    const { db, logger } = this.#deps;
    const warn = (error: unknown, message: string): void => logger.warn({ err: error, endpointId: lease.id }, message);
    const retryInMs = await dispatcher.run().then(
      (isEmpty) => (isEmpty ? null : 0),
      (error: unknown) => {
        warn(error, 'webhooks: reading the deliveries of an endpoint failed, retrying');
        return retryMs;
      },
    );
    const wasFull = this.#counts.working >= maxWorking || this.#dispatchers.size >= maxDispatched;
    try {
      const released = await releaseLease(db, { ...lease, retryMs: retryInMs });
      if (wasFull || released?.is_due === true) this.wake();
    } catch (error) {
      warn(error, 'webhooks: releasing an endpoint lease failed, it expires');
    } finally {
      this.#dispatchers.delete(dispatcher);
    }
  }

  async #renew(): Promise<void> {
    const leases = [...this.#dispatchers.keys()].map(({ lease }) => lease);
    if (leases.length === 0) return;
    await renewLeases(this.#deps.db, { ids: leases.map(({ id }) => id), holders: leases.map(({ holder }) => holder) });
  }
}

function measureDeliveries(metrics: Metrics, db: Database): DispatcherDependencies['metrics'] {
  const attempts = metrics.counter('webhook_delivery_attempts_total', 'Attempts to deliver an event to an endpoint', [
    'outcome',
  ]);
  // Without an initial zero, Prometheus does not count the first attempt with an outcome as an increase.
  for (const outcome of ['delivered', ...attemptErrors]) attempts.inc({ outcome }, 0);
  const delay = metrics.histogram(
    'webhook_delivery_delay_seconds',
    'From an event to the first attempt to deliver it',
    [],
    [0.1, 0.25, 0.5, 1, 2, 5, 15, 60, 300],
  );
  metrics.gauge('webhook_endpoints', 'Endpoints; failing: without a success for an hour', ['state'], async (gauge) => {
    for (const [state, count] of Object.entries(await countEndpoints(db))) gauge.set({ state }, count);
  });
  return {
    attempted: ({ error }: DeliveryAttempt, delayMs: number | undefined) => {
      attempts.inc({ outcome: error ?? 'delivered' });
      if (delayMs !== undefined) delay.observe({}, Math.max(0, delayMs) / 1_000);
    },
  };
}
