/**
 * Runtime of a service with a database: logger, database, telemetry, bus and jobs, started and stopped in one order
 * (architecture#services). A service's `service.ts` adds its features.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type ActorVerifier, createActorVerifier } from '#libs/infrastructure/actor';
import { measureAudit } from '#libs/infrastructure/audit';
import { buildDatabaseUrl, buildNatsUrl } from '#libs/infrastructure/config';
import type {
  actorSettings,
  ConfigOf,
  databaseSettings,
  logSettings,
  natsSettings,
  replySettings,
  telemetrySettings,
} from '#libs/infrastructure/config';
import type { ServiceContract } from '#libs/infrastructure/contract';
import { AppError } from '#libs/infrastructure/errors';
import { EventOutbox } from '#libs/infrastructure/feed';
import { createJobs, type Jobs, type JobTuning } from '#libs/infrastructure/jobs';
import type { Service } from '#libs/infrastructure/lifecycle';
import { createLogger, type Logger } from '#libs/infrastructure/logger';
import {
  type Bus,
  type BusMetrics,
  connectBus,
  createBusMetrics,
  type Handlers,
  streams,
} from '#libs/infrastructure/nats';
import { createDatabase, type Database, measurePool, waitForMigrations } from '#libs/infrastructure/orm';
import { serviceMigrations, natsPermissions } from '#libs/infrastructure/release';
import { type ServiceCheck, type StatusDetails, statusHandlers } from './status.ts';
import { type Check, createTelemetry, type Metrics, type Telemetry } from '#libs/infrastructure/telemetry';

const prepareRetryMs = 500;
/** Half of the retention of the EVENTS stream. */
const eventsHalfLifeMs = streams.EVENTS.maxAgeMs / 2;

type RuntimeSettings = typeof databaseSettings &
  typeof natsSettings &
  typeof replySettings &
  typeof actorSettings &
  typeof logSettings &
  typeof telemetrySettings;

export interface ServiceRuntimeOptions<C extends ServiceContract, J extends ServiceContract> {
  /** The served contract; its name is the name of the schema too. */
  readonly contract: C;
  /** Contract of the jobs to run, if it differs from `contract`, e.g. with jobs of a pipeline's registry. */
  readonly jobContract?: J | undefined;
  readonly config: ConfigOf<RuntimeSettings>;
  /**
   * Migrations that must have run before the service starts; the service waits for them. Default: the migrations in the
   * service's folder.
   */
  readonly migrations?: readonly string[];
  readonly logger?: Logger | undefined;
  /** Readiness checks besides PostgreSQL and NATS. */
  readonly checks?: Readonly<Record<string, Check>>;
  /** Timing of the job library, for tests. */
  readonly tuning?: Partial<JobTuning> | undefined;
}

/** Handlers that a service must provide: all operations of its contract except the status operations. */
export type FeatureHandlers<C extends ServiceContract> = Omit<Handlers<C>, keyof ReturnType<typeof statusHandlers>>;

type Stop = () => unknown;

/** Opens the database and connects the bus. Operations are served and jobs run only after `start` of the service. */
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
  const eventOutbox =
    contract.feed === undefined ? undefined : new EventOutbox({ service: name, db, bus, logger, metrics });
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
  /** Job library of the service. Workers run from the call of `jobs.work` until the service stops. */
  readonly jobs: Jobs<J>;
  readonly #parts: Parts<C, J>;
  readonly #stopping: Stop[] = [];
  readonly #jobSources: Stop[] = [];
  readonly #closing: Stop[] = [];
  #statusProvider: (() => Promise<StatusDetails>) | undefined;
  #checks: readonly ServiceCheck[] = [];

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

  /** Returns the outbox of feed events (V2). @throws Error when the contract does not declare feed events */
  get eventOutbox(): EventOutbox {
    const { contract, eventOutbox } = this.#parts;
    if (eventOutbox === undefined) throw new Error(`service ${contract.service} does not declare feed events`);
    return eventOutbox;
  }

  /** Sets a function that returns service-specific fields of the status for operators (P1). Call it before `serve`. */
  setStatusProvider(details: () => Promise<StatusDetails>): void {
    this.#statusProvider = details;
  }

  /** Adds checks for `doctor`. Call it before `serve`. */
  setChecks(checks: readonly ServiceCheck[]): void {
    this.#checks = checks;
  }

  /** Serves the operations of the contract until the service stops. The handlers of `statusRpcs` are built in. */
  async serve(handlers: FeatureHandlers<C>): Promise<void> {
    const { contract, telemetry } = this.#parts;
    const parts = {
      contract: { ...contract, jobs: this.#parts.declaredJobs },
      telemetry,
      jobs: this.jobs,
      bus: this.bus,
      details: this.#statusProvider,
      checks: this.#checks,
    };
    const status = 'describeService' in contract.rpcs ? statusHandlers(parts) : {};
    const responder = await this.bus.serve(contract, { ...handlers, ...status } as unknown as Handlers<C>);
    this.onStop(() => responder.drain());
  }

  /** Registers a source of jobs that is stopped before the workers stop. */
  stopBeforeWorkers(source: { stop(): unknown }): void {
    this.#jobSources.push(() => source.stop());
  }

  /**
   * Registers a function that is called when the service stops. All registered functions run concurrently, to meet the
   * shutdown deadline.
   */
  onStop(stop: Stop): void {
    this.#stopping.push(stop);
  }

  /**
   * Registers a function that is called after everything has stopped and before bus and database close. The functions
   * run in reverse order of registration.
   */
  onClose(close: Stop): void {
    this.#closing.push(close);
  }

  /** Calls `abort` when stopping takes longer than `graceMs`. */
  abortAfter(graceMs: number, abort: () => void): void {
    let timer: NodeJS.Timeout | undefined;
    this.onStop(() => (timer = setTimeout(abort, graceMs)));
    this.onClose(() => clearTimeout(timer));
  }

  /** Runs required work at the start, with retries while the database is unavailable. @throws other errors of `work` */
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
   * Runs work that compensates for missed events (D97): at the start, and after an outage of NATS during which events
   * may have expired. Also runs it periodically, since an outage of the database can cause missed events too.
   */
  async catchUp(
    work: () => Promise<unknown>,
    { intervalMs = eventsHalfLifeMs, longOutageMs = eventsHalfLifeMs } = {},
  ): Promise<void> {
    await this.prepare(work);
    const again = (): Promise<void> =>
      this.prepare(work).catch((error: unknown) =>
        this.logger.error({ err: error }, 'failed to start the catch-up with missed events'),
      );
    this.onStop(this.bus.onReconnect((outageMs) => (outageMs >= longOutageMs ? void again() : undefined)));
    this.runEvery(intervalMs, 'failed to start the catch-up with missed events', work);
  }

  /**
   * Runs `work` periodically until the service stops, never concurrently. A failure is logged with the message
   * `failure` and does not end the schedule.
   * @param work its signal is aborted when the service stops
   * @param options.immediately whether `work` also starts now, in the background; by default it first runs after one
   * interval
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

  /**
   * Returns the service. `start` is called when database and streams are ready, and returns fields for the log message
   * that reports the service as ready.
   */
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
    // Stopped last, so that events that other parts emit while stopping are still published.
    await this.#parts.eventOutbox?.stop();
  }
}
