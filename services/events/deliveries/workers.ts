/** The job that sends an endpoint what is due, what calls it, and what ends old deliveries (V6, V7). */
import type { Static } from '#libs/contract';
import { type JobHandler, type Jobs, RetryLater } from '#libs/jobs';
import type { Logger } from '#libs/logger';
import type { Database, Tx } from '#libs/orm';
import { removeInBatches } from '#libs/retention';
import type { EventsConfig } from '../config.ts';
import type { FeedNews } from '../feed/index.ts';
import { deliveryJobs } from './contract.ts';
import { EndpointRun, type RunDependencies } from './endpoint-run.ts';
import { Readers } from './readers.ts';
import {
  dropEndpoints,
  dropOld,
  type HeldEndpoint,
  holdEndpoint,
  listForgotten,
  readNews,
  tellHolder,
  wakeEndpoints,
  wakeLate,
} from './statements/queue.ts';

const dayMs = 86_400_000;
/** Events that an endpoint may be behind before it is called although it wants none of them. */
const mostBehind = 5_000;
const lookMs = 2_000;
const failedMs = 1_000;

/** Endpoints at work in a process, up to which a job stays with its own for a moment longer. */
const fewPlaces = 100;
/** Endpoints of a process that are waited for without a place; four connections each. */
const mostWaiting = 1_000;

type Payload = Static<typeof deliveryJobs.deliver.payload>;
type DelivererDependencies = Omit<RunDependencies, 'mayLinger' | 'readers'> & { readonly logger: Logger };

/**
 * Works the jobs of endpoints. A place among those who work is held only as long as there is something to do: an endpoint that lets a request wait
 * is waited for beside them, so that however many do, none of the others gets its turn later (V7).
 */
export class Deliverer {
  readonly #deps: DelivererDependencies & RunDependencies;
  readonly #waiting = new Set<Promise<void>>();
  #working = 0;

  constructor(deps: DelivererDependencies) {
    this.#deps = { ...deps, readers: new Readers(deps), mayLinger: () => this.#working <= fewPlaces };
  }

  get counts(): { readonly working: number; readonly waiting: number } {
    return { working: this.#working, waiting: this.#waiting.size };
  }

  /** The handler of the job. */
  readonly deliver: JobHandler<Payload> = async ({ id, payload, context, signal }) => {
    const endpoint = await hold(this.#deps.db, payload.endpoint_id, id);
    if (endpoint === undefined) return;
    this.#working++;
    try {
      const run = new EndpointRun(this.#deps, endpoint, { id, context, signal });
      const work = run.work();
      let outcome = await Promise.race([work, run.slow]);
      if (outcome === 'slow') {
        if (this.#waiting.size < mostWaiting) return this.#wait(work, payload);
        outcome = await work;
      }
      if (outcome === 'again') throw new RetryLater('more is to be sent', { delayMs: 0 });
    } finally {
      this.#working--;
    }
  };

  /** Resolves when nothing is waited for any more: within the time of an attempt, once the feed's news are closed. */
  async stop(): Promise<void> {
    while (this.#waiting.size > 0) await Promise.all(this.#waiting);
  }

  #wait(work: Promise<'done' | 'again'>, payload: Payload): void {
    const { db, jobs, logger } = this.#deps;
    const waiting = work
      .then(async (outcome) => {
        if (outcome === 'done') return;
        await db.transaction((tx) => jobs.enqueue(tx, deliveryJobs.deliver, payload));
      })
      // It has been let go with a word that somebody is to look, or its lease runs out: `rememberEndpoints` finds it.
      .catch((error: unknown) => logger.warn({ err: error, endpointId: payload.endpoint_id }, 'sending to an endpoint was broken off'))
      .finally(() => this.#waiting.delete(waiting));
    this.#waiting.add(waiting);
  }
}

/** Undefined: another job holds the endpoint and has heard of it, or there is nothing to send to. */
async function hold(db: Database, id: number, holder: string): Promise<HeldEndpoint | undefined> {
  for (let tries = 0; tries < 3; tries++) {
    const endpoint = await holdEndpoint(db, { id, holder });
    if (endpoint !== undefined) return endpoint;
    if ((await tellHolder(db, { id })) !== undefined) return undefined;
  }
  return undefined;
}

interface WakerDependencies {
  readonly db: Database;
  readonly jobs: Pick<Jobs, 'enqueue'>;
  readonly arrivals: FeedNews;
  readonly logger: Logger;
}

/** Follows the feed as a reader would, and calls the jobs of endpoints for which something may have come. */
export class EndpointWaker {
  readonly #deps: WakerDependencies;
  #running: Promise<void> | undefined;

  constructor(deps: WakerDependencies) {
    this.#deps = deps;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** After the feed's news are closed. */
  async stop(): Promise<void> {
    await this.#running;
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    const { arrivals, logger, db } = this.#deps;
    let seen: number | undefined;
    let failing = false;
    for (;;) {
      const { count } = arrivals;
      if (arrivals.closed) return;
      try {
        const { last_position: upTo, is_owed: isOwed } = await readNews(db);
        // What came before this process did is for every endpoint that has not read so far, whatever it wants.
        if (seen === undefined) await this.#wake((tx) => wakeLate(tx, { by: 0 }));
        else if (isOwed && upTo > seen) await this.#wakeFor(seen, upTo);
        seen = upTo;
        failing = false;
      } catch (error) {
        if (!failing) logger.warn({ err: error }, 'endpoints do not hear what happened; trying again');
        failing = true;
      }
      await arrivals.grown(count, failing ? failedMs : lookMs);
    }
  }

  #wakeFor(after: number, upTo: number): Promise<void> {
    return this.#wake((tx) => wakeEndpoints(tx, { after, upTo }));
  }

  #wake(find: (tx: Tx) => ReturnType<typeof wakeEndpoints>): Promise<void> {
    return this.#deps.db.transaction(async (tx) => callWoken(tx, this.#deps.jobs, await find(tx)));
  }
}

async function callWoken(tx: Tx, jobs: Pick<Jobs, 'enqueue'>, woken: Awaited<ReturnType<typeof wakeEndpoints>>): Promise<void> {
  for (const { id, is_held: isHeld } of woken) if (!isHeld) await jobs.enqueue(tx, deliveryJobs.deliver, { endpoint_id: id });
}

/** Calls jobs of endpoints that nobody looks after, and of those that are far behind. */
export async function rememberEndpoints({ db, jobs }: Pick<WakerDependencies, 'db' | 'jobs'>): Promise<void> {
  await db.transaction(async (tx) => {
    await callWoken(tx, jobs, await wakeLate(tx, { by: mostBehind }));
    for (const { id } of await listForgotten(tx)) await jobs.enqueue(tx, deliveryJobs.deliver, { endpoint_id: id }, { key: String(id) });
  });
}

/** What is older than the feed goes, and so does what belonged to endpoints that are gone. */
export async function dropOldDeliveries({
  db,
  config,
  signal,
}: {
  readonly db: Database;
  readonly config: Pick<EventsConfig, 'EVENTS_RETENTION_DAYS'>;
  readonly signal?: AbortSignal | undefined;
}): Promise<void> {
  const before = new Date(Date.now() - config.EVENTS_RETENTION_DAYS * dayMs).toISOString();
  await removeInBatches({ remove: async (limit) => (await dropOld(db, { before, limit })).count, signal });
  await dropEndpoints(db);
}
