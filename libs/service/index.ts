/**
 * The frame of a service with a database: logger, database, telemetry, bus and jobs, started and stopped in one order (architecture#services).
 * A service's `service.ts` puts its features into it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type ActorVerifier, createActorVerifier } from '#libs/actor';
import { measureAudit } from '#libs/audit';
import { buildDatabaseUrl, buildNatsUrl } from '#libs/config';
import type { actorSettings, ConfigOf, databaseSettings, logSettings, natsSettings, replySettings, telemetrySettings } from '#libs/config';
import type { ServiceContract } from '#libs/contract';
import { AppError } from '#libs/errors';
import { EventOutbox } from '#libs/feed';
import { createJobs, type Jobs, type JobTuning } from '#libs/jobs';
import type { Service } from '#libs/lifecycle';
import { createLogger, type Logger } from '#libs/logger';
import { type Bus, type BusMetrics, connectBus, createBusMetrics, type Handlers, streams } from '#libs/nats';
import { createDatabase, type Database, measurePool, waitForMigrations } from '#libs/orm';
import { serviceMigrations, natsPermissions } from '#libs/release';
import { type StatusDetails, statusHandlers } from './status.ts';
import { type Check, createTelemetry, type Metrics, type Telemetry } from '#libs/telemetry';

const prepareRetryMs = 500;
/** Of what the stream of events keeps. */
const eventsHalfLifeMs = streams.EVENTS.maxAgeMs / 2;

type RuntimeSettings = typeof databaseSettings &
  typeof natsSettings &
  typeof replySettings &
  typeof actorSettings &
  typeof logSettings &
  typeof telemetrySettings;

export interface ServiceRuntimeOptions<C extends ServiceContract, J extends ServiceContract> {
  /** What it serves; its name is the name of its schema too. */
  readonly contract: C;
  /** What it works, when that is not the jobs of the contract: those of a pipeline's registry. */
  readonly jobContract?: J | undefined;
  readonly config: ConfigOf<RuntimeSettings>;
  /** It waits for them, others run them. Default: those of the service's folder. */
  readonly migrations?: readonly string[];
  readonly logger?: Logger | undefined;
  /** What it needs besides PostgreSQL and NATS to be ready. */
  readonly checks?: Readonly<Record<string, Check>>;
  /** Times of the job machinery; tests that kill processes shorten them. */
  readonly tuning?: Partial<JobTuning> | undefined;
}

/** What a service answers itself: all of its contract but what its frame answers. */
export type FeatureHandlers<C extends ServiceContract> = Omit<Handlers<C>, keyof ReturnType<typeof statusHandlers>>;

type Stop = () => unknown;

/** Opens the database and connects the bus; nothing is served and no job worked before `start` of its service. */
export async function createServiceRuntime<C extends ServiceContract, J extends ServiceContract = C>(
  options: ServiceRuntimeOptions<C, J>,
): Promise<ServiceRuntime<C, J>> {
  const { contract, config, checks = {} } = options;
  const name = contract.service;
  const logger = options.logger ?? createLogger({ service: name, level: config.LOG_LEVEL });
  const db = await createDatabase({
    url: buildDatabaseUrl(config),
    schema: name,
    poolSize: config.DATABASE_POOL_SIZE,
    pooled: config.DATABASE_POOLER === 'transaction',
    logger,
    applicationName: name,
  });
  const telemetry = createTelemetry({
    service: name,
    logger,
    settings: config,
    checks: { postgresql: () => db.ping(), nats: () => bus.ping(), ...checks },
  });
  const { metrics } = telemetry;
  measurePool(metrics, db);
  measureAudit(metrics, db);
  const actors = createActorVerifier(config.ACTOR_PUBLIC_KEY);
  const busMetrics = createBusMetrics(metrics);
  const bus = await connectBus({
    url: buildNatsUrl(config),
    name,
    caller: name,
    actors,
    prefix: config.NATS_SUBJECT_PREFIX,
    checkReplies: config.CHECK_REPLIES,
    logger,
    metrics: busMetrics,
  });
  const jobContract = (options.jobContract ?? contract) as J;
  const jobs = createJobs({ contract: jobContract, db, bus, logger, metrics, tuning: options.tuning });
  const eventOutbox = contract.feed === undefined ? undefined : new EventOutbox({ service: name, db, bus, logger, metrics });
  return new ServiceRuntime({
    contract,
    migrations: options.migrations ?? serviceMigrations(name),
    telemetry,
    logger,
    db,
    metrics,
    actors,
    busMetrics,
    bus,
    jobs,
    eventOutbox,
    declaredJobs: jobContract.jobs,
  });
}

interface Parts<C extends ServiceContract, J extends ServiceContract> {
  readonly contract: C;
  readonly migrations: readonly string[];
  readonly telemetry: Telemetry;
  readonly logger: Logger;
  readonly db: Database;
  readonly metrics: Metrics;
  readonly actors: ActorVerifier;
  readonly busMetrics: BusMetrics;
  readonly bus: Bus;
  readonly jobs: Jobs<J>;
  readonly declaredJobs: ServiceContract['jobs'];
  readonly eventOutbox: EventOutbox | undefined;
}

export class ServiceRuntime<C extends ServiceContract, J extends ServiceContract> {
  readonly logger: Logger;
  readonly db: Database;
  readonly metrics: Metrics;
  readonly actors: ActorVerifier;
  readonly busMetrics: BusMetrics;
  readonly bus: Bus;
  /** J from `jobs.work` on, until the stop. */
  readonly jobs: Jobs<J>;
  readonly #parts: Parts<C, J>;
  readonly #stopping: Stop[] = [];
  readonly #jobSources: Stop[] = [];
  readonly #closing: Stop[] = [];
  #statusProvider: (() => Promise<StatusDetails>) | undefined;

  constructor(parts: Parts<C, J>) {
    this.#parts = parts;
    this.logger = parts.logger;
    this.db = parts.db;
    this.metrics = parts.metrics;
    this.actors = parts.actors;
    this.busMetrics = parts.busMetrics;
    this.bus = parts.bus;
    this.jobs = parts.jobs;
  }

  /** What it tells the feed (V2). @throws Error when its contract declares nothing of that */
  get eventOutbox(): EventOutbox {
    const { contract, eventOutbox } = this.#parts;
    if (eventOutbox === undefined) throw new Error(`service ${contract.service} declares nothing that it tells the feed`);
    return eventOutbox;
  }

  /** What the service alone can say of itself to operators (P1); before `serve`. */
  setStatusProvider(details: () => Promise<StatusDetails>): void {
    this.#statusProvider = details;
  }

  /** Answers the operations of the contract, until the stop; those of `statusRpcs` the frame answers itself. */
  async serve(handlers: FeatureHandlers<C>): Promise<void> {
    const { contract, telemetry } = this.#parts;
    const parts = {
      contract: { ...contract, jobs: this.#parts.declaredJobs },
      telemetry,
      jobs: this.jobs,
      bus: this.bus,
      details: this.#statusProvider,
    };
    const status = 'describeService' in contract.rpcs ? statusHandlers(parts) : {};
    const responder = await this.bus.serve(contract, { ...handlers, ...status } as unknown as Handlers<C>);
    this.onStop(() => responder.drain());
  }

  /** Keeps what makes jobs of messages: it stops before the workers do. */
  stopBeforeWorkers(source: { stop(): unknown }): void {
    this.#jobSources.push(() => source.stop());
  }

  /** Calls `stop` when the service stops, beside the others: one after the other they could take longer than a process may. */
  onStop(stop: Stop): void {
    this.#stopping.push(stop);
  }

  /** Calls `close` when everything has stopped, before bus and database are closed; the last one first. */
  onClose(close: Stop): void {
    this.#closing.push(close);
  }

  /** Calls `breakOff` when stopping takes longer. */
  abortAfter(graceMs: number, abort: () => void): void {
    let timer: NodeJS.Timeout | undefined;
    this.onStop(() => (timer = setTimeout(abort, graceMs)));
    this.onClose(() => clearTimeout(timer));
  }

  /** Does what the service is not ready without, again for as long as the database cannot be reached. @throws what else `work` fails with */
  async prepare(work: () => Promise<unknown>): Promise<void> {
    for (;;) {
      try {
        await work();
        return;
      } catch (error) {
        if (!(error instanceof AppError && error.code === 'unavailable')) throw error;
        this.logger.warn({ err: error }, 'waiting for the database');
        await sleep(prepareRetryMs);
      }
    }
  }

  /**
   * For what a service does because it may have missed events (D97): `work` at the start, when the connection to NATS returns after so long that
   * events may have expired, and now and then, since a database that was away has the same effect.
   */
  async catchUp(work: () => Promise<unknown>, { intervalMs = eventsHalfLifeMs, longOutageMs = eventsHalfLifeMs } = {}): Promise<void> {
    await this.prepare(work);
    const again = (): Promise<void> =>
      this.prepare(work).catch((error: unknown) => this.logger.error({ err: error }, 'failed to start the catch-up with missed events'));
    this.onStop(this.bus.onReconnect((outageMs) => (outageMs >= longOutageMs ? void again() : undefined)));
    this.runEvery(intervalMs, 'failed to start the catch-up with missed events', work);
  }

  /**
   * Runs `work` now and then, until the stop, never twice at once; of a failure the log has `failure`, and the next time comes all the same.
   * @param work its signal is aborted by the stop
   * @param options.atOnce the first time is now, which nothing waits for; by default it is one interval from now.
   */
  runEvery(
    intervalMs: number,
    failure: string,
    work: (signal: AbortSignal) => Promise<unknown>,
    options: { immediately?: boolean } = {},
  ): void {
    const stopping = new AbortController();
    let running: Promise<void> | undefined;
    const run = (): void => {
      running ??= work(stopping.signal)
        .then(() => undefined)
        .catch((error: unknown) => this.logger.warn({ err: error }, failure))
        .finally(() => (running = undefined));
    };
    const timer = setInterval(run, intervalMs);
    timer.unref();
    if (options.immediately === true) run();
    this.onStop(() => {
      clearInterval(timer);
      stopping.abort();
    });
  }

  /** The service: `start` is called when database and streams are there, and returns what the log says of the ready service. */
  service(start: () => Promise<object | void>): Service {
    return { start: () => this.#start(start), stop: () => this.#stop() };
  }

  async #start(start: () => Promise<object | void>): Promise<void> {
    const { contract, telemetry, migrations } = this.#parts;
    await telemetry.start();
    await waitForMigrations({ db: this.db, schema: contract.service, migrations, logger: this.logger });
    await this.bus.waitForPermissions(natsPermissions()[contract.service]);
    await this.bus.waitForStreams();
    const facts = await start();
    this.#parts.eventOutbox?.start();
    telemetry.started();
    this.logger.info({ ...facts, metricsPort: telemetry.port }, `${contract.service} is ready`);
  }

  async #stop(): Promise<void> {
    const { telemetry } = this.#parts;
    telemetry.draining();
    await Promise.all([...this.#stopping.map((stop) => stop()), this.#stopJobs()]);
    for (const close of this.#closing.toReversed()) await close();
    await this.bus.close();
    await this.db.close();
    await telemetry.stop();
  }

  async #stopJobs(): Promise<void> {
    await Promise.all(this.#jobSources.map((stop) => stop()));
    await this.jobs.stop();
    // Last of all that writes, so that what the others told is sent.
    await this.#parts.eventOutbox?.stop();
  }
}
