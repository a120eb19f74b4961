/**
 * Sends one endpoint what is due, four at a time, until nothing is: as the one that holds the endpoint (V7). What happens becomes deliveries only
 * here, and only so far as there is room: an endpoint that is slow has its backlog in the feed, where it costs nothing.
 */
import { type CallContext, ownContext, type Bus } from '#libs/nats';
import type { Feed } from '#libs/feed';
import type { Jobs } from '#libs/jobs';
import type { Database } from '#libs/orm';
import type { Outbound } from '#libs/outbound';
import { disableEndpoint } from '../endpoints/index.ts';
import {
  type EventWriter,
  type FeedNews,
  findPage,
  findShown,
  type FoundEvent,
  readTypes,
  type Asking,
  type Viewer,
} from '../feed/index.ts';
import { type DeliveryAttempt, deliveryJobs } from './contract.ts';
import { describeTest } from './test-event.ts';
import type { DeliveryMetrics } from './metrics.ts';
import { post } from './post.ts';
import { judgedForMs, type Readers } from './readers.ts';
import { delayAfter, failingTooLongSeconds } from './rules.ts';
import {
  dropDeliveries,
  type DueDelivery,
  findNextDue,
  type HeldEndpoint,
  keepEndpoint,
  leaveEndpoint,
  noteFailure,
  noteSuccess,
  planDeliveries,
  readHeld,
  releaseEndpoint,
  settleEndpoint,
  takeDue,
  writeAttempt,
} from './statements/queue.ts';

/** Deliveries that are under way at once. */
const slots = 4;
/** Taken at once: twice what is under way, so that none waits long in the memory of a process. */
const taken = 8;
/** Longer than those taken can take. */
const takenForMs = 60_000;
const pageSize = 50;
/** After it another endpoint has its turn in this place. */
const sliceMs = 60_000;
/** Where nothing was left to begin, it is looked again when the feed has grown, and then. */
const lookMs = 1_000;
const keepEveryMs = 5_000;
/** What is delivered is often not the last thing that happens. */
const lingerMs = 2_000;
/** Deliveries that have waited in memory for longer are sent only after a look at the endpoint and at their rows: one that answers at once costs none. */
const knownForMs = 100;
/** An attempt that takes longer is waited for without a place. */
const slowMs = 2_000;

export interface RunDependencies {
  readonly db: Database;
  readonly bus: Bus;
  readonly jobs: Pick<Jobs, 'transaction' | 'enqueue'>;
  readonly outbound: Outbound;
  /** Tells when the feed grows; closed when the process stops. */
  readonly arrivals: FeedNews;
  /** Where it is told that an endpoint was disabled. */
  readonly news: Feed;
  readonly metrics: DeliveryMetrics;
  readonly readers: Readers;
  readonly findWriter: () => Promise<EventWriter>;
  /** Whether there are places enough to stay with an endpoint for a moment. */
  readonly mayLinger: () => boolean;
}

/** A delivery that may be sent. */
interface Ready {
  readonly delivery: DueDelivery;
  /** Absent for a test. */
  readonly event: FoundEvent | undefined;
}

/** A page of what happened. */
interface Read {
  readonly items: readonly FoundEvent[];
  /** Nothing up to there is missing. */
  readonly reached: number;
  /** When it was judged. */
  readonly atMs: number;
}

/** For whom it runs. */
export interface RunOrigin {
  /** Of the job, in whose name the endpoint is held. */
  readonly id: string;
  readonly context: CallContext;
  readonly signal: AbortSignal;
}

export class EndpointRun {
  readonly #deps: RunDependencies;
  readonly #holder: string;
  readonly #context: CallContext;
  readonly #signal: AbortSignal;
  readonly #inFlight = new Set<Promise<void>>();
  readonly #slow = Promise.withResolvers<'slow'>();
  #endpoint: HeldEndpoint;
  #isHeld = true;
  #keptMs = performance.now();
  #queue: Ready[] = [];
  #judgedMs = -Infinity;
  /** When the endpoint and the rows of the queue were read. */
  #readMs = -Infinity;
  /** Nothing was left to begin at that moment. */
  #nothing: { readonly count: number; readonly atMs: number } | undefined;
  #lingersUntilMs = 0;
  /** The last answer was a failure. */
  #isFailing: boolean;
  #noted: Promise<unknown> = Promise.resolve();
  #failure: { readonly error: unknown } | undefined;

  constructor(deps: RunDependencies, endpoint: HeldEndpoint, { id, context, signal }: RunOrigin) {
    this.#deps = deps;
    this.#endpoint = endpoint;
    this.#isFailing = endpoint.is_failing;
    this.#holder = id;
    this.#signal = signal;
    this.#context = ownContext(context);
  }

  /** Resolves when an attempt has taken long: from then on most of what the run does is to wait. */
  get slow(): Promise<'slow'> {
    return this.#slow.promise;
  }

  /** @returns `again` when it has to go on in another run. @throws what kept it from going on; the endpoint is free then */
  async work(): Promise<'done' | 'again'> {
    try {
      return await this.#work();
    } catch (error) {
      await Promise.all(this.#inFlight);
      await releaseEndpoint(this.#deps.db, this.#own).catch(() => undefined);
      throw error;
    }
  }

  get #own(): { readonly id: number; readonly holder: string } {
    return { id: this.#endpoint.id, holder: this.#holder };
  }

  async #work(): Promise<'done' | 'again'> {
    const { arrivals, db, mayLinger } = this.#deps;
    const endMs = performance.now() + sliceMs;
    for (;;) {
      const { count } = arrivals;
      const mayBegin = this.#isHeld && performance.now() < endMs && !arrivals.closed && !this.#signal.aborted;
      if (mayBegin) await this.#begin(count);
      if (this.#inFlight.size > 0) {
        await Promise.race([...this.#inFlight, ...(mayBegin ? [arrivals.grown(count, lookMs)] : [])]);
        if (this.#failure !== undefined) throw this.#failure.error;
        if (this.#isHeld && performance.now() - this.#keptMs > keepEveryMs) await this.#keep();
      } else if (!this.#isHeld || !mayBegin) {
        await releaseEndpoint(db, this.#own);
        return this.#isHeld ? 'again' : 'done';
      } else if (performance.now() < this.#lingersUntilMs && mayLinger()) {
        await arrivals.grown(count, lookMs);
      } else if (await this.#settle()) return 'done';
    }
  }

  /** Begins as many as there are places for. */
  async #begin(count: number): Promise<void> {
    while (this.#inFlight.size < slots) {
      const ready = await this.#next(count);
      if (ready === undefined) return;
      const sending = this.#send(ready)
        .catch((error: unknown) => {
          this.#failure ??= { error };
        })
        .finally(() => this.#inFlight.delete(sending));
      this.#inFlight.add(sending);
    }
  }

  /** @param count of the feed's news, from before it is looked */
  async #next(count: number): Promise<Ready | undefined> {
    const { length } = this.#queue;
    if (length > 0 && performance.now() - this.#readMs > knownForMs) await this.#readAgain();
    if (this.#queue.length > 0 && performance.now() - this.#judgedMs > judgedForMs)
      await this.#judge(this.#queue.map(({ delivery }) => delivery));
    const isKnown = this.#nothing !== undefined && this.#nothing.count === count && performance.now() - this.#nothing.atMs < lookMs;
    if (this.#queue.length === 0 && (length > 0 || !isKnown)) await this.#refill(count);
    return this.#queue.shift();
  }

  /**
   * What waits in memory follows what was done to the endpoint meanwhile: nothing is sent of what was given up, of an endpoint that is disabled, deleted or
   * held by another job, and the rest goes to the present address with the present secrets.
   */
  async #readAgain(): Promise<void> {
    const readMs = performance.now();
    const endpoint = await readHeld(this.#deps.db, { ...this.#own, taken: this.#queue.map(({ delivery }) => delivery.id) });
    if (endpoint === undefined) return this.#end();
    this.#readMs = readMs;
    this.#endpoint = endpoint;
    const pending = new Set(endpoint.pending);
    this.#queue = this.#queue.filter(({ delivery }) => pending.has(delivery.id));
  }

  /** Holds on; what was news until then is to be looked at, which `#nothing` remembers. */
  async #keep(): Promise<void> {
    const kept = await keepEndpoint(this.#deps.db, this.#own);
    this.#keptMs = performance.now();
    this.#nothing = undefined;
    if (kept === undefined) this.#end();
  }

  /** The endpoint is disabled, deleted, or somebody else's. */
  #end(): void {
    this.#isHeld = false;
    this.#queue = [];
  }

  /** Takes what is due, and makes of what happened as much as there is room for. */
  async #refill(count: number): Promise<void> {
    const { db } = this.#deps;
    for (let hasMore = true; hasMore && this.#queue.length === 0;) {
      if (performance.now() - this.#keptMs > keepEveryMs) await this.#keep();
      const readMs = performance.now();
      const endpoint = this.#isHeld ? await readHeld(db, { ...this.#own, taken: [] }) : undefined;
      if (endpoint === undefined) return this.#end();
      this.#readMs = readMs;
      this.#endpoint = endpoint;
      const due = endpoint.has_due ? await takeDue(db, { id: endpoint.id, limit: taken, lease: takenForMs }) : [];
      if (due.length > 0) await this.#judge(due);
      hasMore = due.length === taken || (await this.#plan(taken - due.length, endpoint.last_position));
      this.#nothing = hasMore ? undefined : { count, atMs: performance.now() };
    }
  }

  /**
   * Makes deliveries of what happened behind the endpoint's place, and when that is nothing, of what is to be read again; takes as many as there is
   * `room` for. @returns whether there may be more
   */
  async #plan(room: number, last: number): Promise<boolean> {
    const { position, recover_from: from, recover_to: to } = this.#endpoint;
    const recovers = from !== null && to !== null;
    if (position < last) {
      const read = await this.#read(position, last);
      await this.#insert(read, room, null);
      if (read.items.length > 0 || !recovers) return read.items.length > room || read.reached < last || recovers;
    }
    if (!recovers) return false;
    await this.#insert(await this.#read(from, to), room, from);
    return true;
  }

  async #read(after: number, upTo: number): Promise<Read> {
    const { types } = this.#endpoint;
    const atMs = performance.now();
    const known = await this.#findReader();
    if (known === undefined) return { items: [], reached: upTo, atMs };
    const wanted = {
      types: types === null ? null : (readTypes(types.join(',')) ?? []),
      subjectType: null,
      subjectId: null,
      limit: pageSize,
    };
    const { items, reached } = await findPage({ ...this.#deps, context: known.asking }, known.viewer, wanted, { after, upTo });
    return { items, reached, atMs: known.atMs };
  }

  /** Rows and place move together: no event is left out, and none comes twice. What is taken was judged when it was read. */
  async #insert({ items, reached, atMs }: Read, room: number, from: number | null): Promise<void> {
    const positions = items.map(({ position }) => position);
    const takeUpTo = positions[Math.min(room, positions.length) - 1] ?? 0;
    const occurredAt = items.map(({ occurred_at: at }) => at);
    const planned = await planDeliveries(this.#deps.db, {
      ...this.#own,
      reached,
      from,
      positions,
      occurredAt,
      takeUpTo,
      lease: takenForMs,
    });
    if (planned.length === 0) throw new Error('the endpoint is held by somebody else');
    const events = new Map(items.map((event) => [event.position, event]));
    if (this.#queue.length === 0) this.#judgedMs = atMs;
    for (const { id, position, occurred_at: at, tries } of planned) {
      const event = events.get(position ?? 0);
      if (id === null || at === null || event === undefined || event.position > takeUpTo) continue;
      this.#queue.push({ delivery: { id, position, occurred_at: at, tries: tries ?? 0 }, event });
    }
  }

  /** What the account may read now is sent; the rest was never there. */
  async #judge(due: readonly DueDelivery[]): Promise<void> {
    const atMs = performance.now();
    const known = await this.#findReader();
    const events = due.flatMap(({ position, occurred_at: at }) => (position === null ? [] : [{ position, occurred_at: at }]));
    const shown =
      known === undefined ? new Map<number, FoundEvent>() : await findShown({ ...this.#deps, context: known.asking }, known.viewer, events);
    this.#judgedMs = known?.atMs ?? atMs;
    this.#queue = [];
    const hidden: string[] = [];
    for (const delivery of due) {
      const event = delivery.position === null ? undefined : shown.get(delivery.position);
      if (delivery.position === null || event !== undefined) this.#queue.push({ delivery, event });
      else hidden.push(delivery.id);
    }
    if (hidden.length > 0) await dropDeliveries(this.#deps.db, { ids: hidden });
  }

  /** The account, and what is asked on its behalf; undefined while it is deactivated. */
  async #findReader(): Promise<{ atMs: number; viewer: Viewer; asking: Asking } | undefined> {
    const known = await this.#deps.readers.find(this.#endpoint.account_id, this.#context);
    return known && { atMs: known.atMs, viewer: known.viewer, asking: { ...this.#context, reader: known.reader } };
  }

  async #send({ delivery, event }: Ready): Promise<void> {
    const { findWriter, outbound, metrics } = this.#deps;
    const writer = await findWriter();
    const { id, body } = event === undefined ? describeTest(writer, this.#endpoint, delivery) : { id: event.id, body: writer.write(event) };
    const { url, secret, previous_secret: previous } = this.#endpoint;
    const secrets = previous === null ? [secret] : [secret, previous];
    const timer = setTimeout(() => this.#slow.resolve('slow'), slowMs);
    try {
      const { attempt, drained } = await post(outbound, { url, id: writer.idOf(id), body, secrets });
      const firstAfterMs = delivery.tries === 0 && event !== undefined ? Date.parse(attempt.at) - Date.parse(event.occurred_at) : undefined;
      metrics.attempted(attempt, firstAfterMs);
      await (attempt.error === null ? this.#delivered(delivery, attempt) : this.#failed(delivery, attempt));
      // Whoever answers at once and then goes on for long has this connection, and not a fifth one.
      await drained;
    } finally {
      clearTimeout(timer);
    }
  }

  async #delivered({ id }: DueDelivery, attempt: DeliveryAttempt): Promise<void> {
    const { db } = this.#deps;
    if (this.#isFailing) {
      this.#isFailing = false;
      await this.#note(() => noteSuccess(db, { id: this.#endpoint.id }));
    }
    await writeAttempt(db, { id, status: 'delivered', delay: null, attempt: JSON.stringify(attempt) });
    this.#lingersUntilMs = performance.now() + lingerMs;
  }

  async #failed({ id, tries }: DueDelivery, attempt: DeliveryAttempt): Promise<void> {
    const { db, news } = this.#deps;
    const endpointId = this.#endpoint.id;
    const isGone = attempt.status_code === 410;
    const delay = isGone ? undefined : delayAfter(tries + 1);
    const status = delay === undefined ? 'failed' : 'pending';
    this.#isFailing = true;
    const reason = await this.#note(() =>
      db.transaction(async (tx) => {
        // The endpoint first, as everywhere: two who lock it and its deliveries the other way round would wait for each other.
        const noted = await noteFailure(tx, { id: endpointId });
        const ends = isGone ? 'gone' : (noted?.failing_seconds ?? 0) > failingTooLongSeconds ? 'failing' : undefined;
        if (ends !== undefined) await disableEndpoint(news, tx, endpointId, ends);
        await writeAttempt(tx, { id, status, delay, attempt: JSON.stringify(attempt) });
        return ends;
      }),
    );
    if (reason !== undefined) this.#end();
  }

  /** In the order of the answers: a failure right behind a success is the first one again. */
  #note<Result>(write: () => Promise<Result>): Promise<Result> {
    const noted = this.#noted.then(write);
    this.#noted = noted.catch(() => undefined);
    return noted;
  }

  /** Lets go when nothing is left to do; what is due later is another job's. @returns whether it did */
  async #settle(): Promise<boolean> {
    const { db, jobs } = this.#deps;
    if ((await leaveEndpoint(db, this.#own)) !== undefined) return true;
    return jobs.transaction(async (tx) => {
      const settled = await settleEndpoint(tx, this.#own);
      if (settled === undefined) return true;
      if (settled.has_news) {
        this.#nothing = undefined;
        return false;
      }
      const { id } = this.#endpoint;
      const { wait_ms: waitMs } = await findNextDue(tx, { id });
      if (waitMs !== null) await jobs.enqueue(tx, deliveryJobs.deliver, { endpoint_id: id }, { key: String(id), delayMs: waitMs });
      return true;
    });
  }
}
