/**
 * Schedules endpoints when the feed grows, takes those that are due from the queue, and dispatches each by itself (V7). Every process does it; the lease
 * of an endpoint says which one sends to it.
 */
import { renewPeriodically } from '#libs/lease';
import { readHead } from '../feed/index.ts';
import { type DispatcherDependencies, EndpointDispatcher } from './endpoint-dispatcher.ts';
import { acquireLeases, type EndpointLease, leaseMs, releaseLease, renewLeases, scheduleBehind, scheduleWanting } from './statements.ts';

/** Endpoints that a process dispatches at once, and those of them that may do more than wait for responses: so receivers that hang delay no others. */
const maxDispatched = 1_500;
const maxWorking = 500;
/** The queue is read when the feed has grown, when an endpoint is due again, and after this time. */
const pollMs = 1_000;
/** An endpoint whose queue could not be read is due again after it. */
const retryMs = 2_000;
/** Events that the position of an endpoint may be behind although it wants none of them. */
const maxBehind = 5_000;
const scheduleBehindMs = 15_000;

type SchedulerDependencies = Omit<DispatcherDependencies, 'stopping'>;

export class DeliveryScheduler {
  readonly #deps: DispatcherDependencies;
  readonly #stopping = new AbortController();
  readonly #dispatchers = new Map<EndpointDispatcher, Promise<void>>();
  #running: Promise<void> | undefined;
  #wakeUp = Promise.withResolvers<void>();
  /** End of the feed up to which endpoints are scheduled; undefined: not known since the start. */
  #scheduledUpTo: number | undefined;
  #scheduledBehindMs = -Infinity;

  constructor(deps: SchedulerDependencies) {
    this.#deps = { ...deps, stopping: this.#stopping.signal };
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Something may be due. */
  wake(): void {
    this.#wakeUp.resolve();
  }

  /** Begins no request any more; resolves when those under way have ended, within the time of an attempt. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.wake();
    await this.#running;
  }

  /** Endpoints that this process dispatches; waiting: all they do is to wait for responses. */
  get counts(): { readonly working: number; readonly waiting: number } {
    const waiting = [...this.#dispatchers.keys()].filter(({ isWaiting }) => isWaiting).length;
    return { working: this.#dispatchers.size - waiting, waiting };
  }

  async #run(): Promise<void> {
    const { logger } = this.#deps;
    const onFailure = (error: unknown): void => logger.warn({ err: error }, 'webhooks: leases of endpoints not renewed');
    const stopRenewing = renewPeriodically({ leaseMs, renew: () => this.#renew(), onFailure });
    while (!this.#stopping.signal.aborted) {
      this.#wakeUp = Promise.withResolvers();
      const timer = setTimeout(() => this.wake(), pollMs);
      try {
        await this.#schedule();
        await this.#dispatchDue();
      } catch (error) {
        logger.warn({ err: error }, 'webhooks: queue of endpoints not read, retrying');
      }
      await this.#wakeUp.promise;
      clearTimeout(timer);
    }
    await Promise.all(this.#dispatchers.values());
    stopRenewing();
  }

  /** What happened before the start is for every endpoint that has not read so far. */
  async #schedule(): Promise<void> {
    const { db } = this.#deps;
    const { last_position: upTo } = await readHead(db);
    const after = this.#scheduledUpTo;
    if (after !== undefined && upTo > after) await scheduleWanting(db, { after, upTo });
    if (performance.now() - this.#scheduledBehindMs > scheduleBehindMs) {
      await scheduleBehind(db, { by: after === undefined ? 0 : maxBehind });
      this.#scheduledBehindMs = performance.now();
    }
    this.#scheduledUpTo = upTo;
  }

  async #dispatchDue(): Promise<void> {
    const { working, waiting } = this.counts;
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
        warn(error, 'webhooks: queue of an endpoint not read, retrying');
        return retryMs;
      },
    );
    const wasFull = this.counts.working >= maxWorking || this.#dispatchers.size >= maxDispatched;
    try {
      const released = await releaseLease(db, { ...lease, retryMs: retryInMs });
      if (wasFull || released?.is_due === true) this.wake();
    } catch (error) {
      warn(error, 'webhooks: lease of an endpoint not released, it runs out');
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
