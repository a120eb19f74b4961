/**
 * Runs the jobs of one service: claims delivered jobs, runs their handlers under a lease, writes the outcome, and
 * acknowledges the message last. Lost messages are recovered by redelivery or by the sweeper.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { consumerOf, type Job } from '#libs/infrastructure/contract';
import { AppError } from '#libs/infrastructure/errors';
import { parseJson } from '#libs/infrastructure/json';
import type { Logger } from '#libs/infrastructure/logger';
import type { Bus, Delivery, RunningConsumer } from '#libs/infrastructure/nats';
import type { Database } from '#libs/infrastructure/orm';
import { compileSchema, type SchemaCheck } from '#libs/infrastructure/schema';
import { Slab, createBatcher } from '#libs/infrastructure/concurrency';
import { findTracer, newTraceparent, readTraceIds, type Span } from '#libs/infrastructure/telemetry';
import { encodeResult, JobAttempt } from './attempt.ts';
import { type DeliveredJob, readDelivery, readOrigin } from './delivery.ts';
import { describeFault, LeaseLost, PermanentJobError, WorkerStopping } from './errors.ts';
import { type HeldLease, LeaseRenewer } from './leases.ts';
import type { JobMetrics } from './metrics.ts';
import { decideOutcome, type Outcome } from './policy.ts';
import type { Relay } from './relay.ts';
import { acceptJobs, claimJobs, type ClaimedRow, endAttempt, readStatus, succeedJobs } from './statements.ts';
import type { Sweeper } from './sweeper.ts';
import type { DeadJob, JobHandler, Jobs, JobTuning, OnDead } from './types.ts';
import { uuidTimeMs } from './uuid.ts';

/** Time in which a handler must stop after its abort signal. After it the attempt ends without the handler's result. */
const abortGraceMs = 2_000;
const lockedDelayMs = 200;

export interface WorkerDependencies {
  readonly service: string;
  readonly db: Database;
  readonly bus: Bus;
  readonly jobs: Pick<Jobs, 'transaction'>;
  readonly relay: Relay;
  readonly sweeper: Sweeper;
  readonly logger: Logger;
  readonly metrics: JobMetrics;
  readonly worker: string;
  readonly tuning: JobTuning;
}

interface Line {
  readonly declaration: Job;
  readonly handler: JobHandler<never>;
  readonly check: SchemaCheck;
}

/** A job received from another service. */
type ForeignJob = { readonly id: string; readonly type: string } & NonNullable<DeliveredJob['content']> &
  ReturnType<typeof readOrigin>;

export class Worker {
  readonly #deps: WorkerDependencies;
  readonly #leases: LeaseRenewer;
  readonly #running = new Slab<JobAttempt>();
  /** True when the grace time of the shutdown is over: attempts that start later release their job immediately. */
  #graceIsOver = false;
  readonly #consumers: RunningConsumer[] = [];
  #onDead: OnDead | undefined;
  readonly #lines = new Map<string, Line>();
  readonly #accept;
  readonly #claim;
  readonly #succeed;

  constructor(deps: WorkerDependencies) {
    this.#deps = deps;
    this.#leases = new LeaseRenewer({ db: deps.db, logger: deps.logger, leaseMs: deps.tuning.leaseMs });
    const { db, tuning, worker } = deps;
    this.#accept = createBatcher<ForeignJob, never>({
      keyOf: ({ id }) => id,
      run: async (items) => {
        await acceptJobs(db, {
          ids: items.map(({ id }) => id),
          types: items.map(({ type }) => type),
          keys: items.map(({ key }) => key),
          payloads: items.map(({ payload }) => payload),
          delays: items.map(({ delayMs }) => delayMs),
          requestIds: items.map(({ requestId }) => requestId),
          traceparents: items.map(({ traceparent }) => traceparent),
          askedAt: items.map(({ id }) => uuidTimeMs(id)),
        });
        return new Map<string, never>();
      },
    });
    this.#claim = createBatcher<string, ClaimedRow>({
      keyOf: (id) => id,
      run: async (ids) => {
        const rows = await claimJobs(db, { ids, lease: tuning.leaseMs, worker });
        return new Map(rows.map((row) => [row.id, row]));
      },
    });
    this.#succeed = createBatcher<{ id: string; lease: number; result: string | null }, true>({
      keyOf: ({ id }) => id,
      run: async (items) => {
        const rows = await succeedJobs(db, {
          ids: items.map(({ id }) => id),
          leases: items.map(({ lease }) => lease),
          results: items.map(({ result }) => result),
        });
        return new Map(rows.map(({ id }) => [id, true]));
      },
    });
  }

  async start(
    lines: ReadonlyMap<string, { declaration: Job; handler: JobHandler<never> }>,
    onDead: OnDead | undefined,
  ): Promise<void> {
    this.#onDead = onDead;
    for (const [type, line] of lines)
      this.#lines.set(type, { ...line, check: compileSchema(line.declaration.payload) });
    this.#leases.start();
    for (const [type, { declaration }] of this.#lines) {
      const options = {
        stream: 'JOBS',
        durable: consumerOf(type),
        filter: `jobs.${type}`,
        concurrency: declaration.policy.concurrency,
        ackWaitMs: this.#deps.tuning.leaseMs,
      } as const;
      this.#consumers.push(
        await this.#deps.bus.consume(options, (delivery) => this.#onDelivery(declaration.type, delivery)),
      );
    }
  }

  /** Stops claiming jobs. Running attempts have the grace time to finish; then their jobs are released. */
  async stop(): Promise<void> {
    const timer = setTimeout(() => {
      this.#graceIsOver = true;
      for (const attempt of this.#running) attempt.abort(new WorkerStopping());
    }, this.#deps.tuning.stopGraceMs);
    await Promise.all(this.#consumers.map((consumer) => consumer.stop()));
    clearTimeout(timer);
    this.#leases.stop();
  }

  /** Handles one delivered message. Never rejects. */
  async #onDelivery(type: string, delivery: Delivery): Promise<void> {
    const holding = this.#leases.hold(delivery);
    try {
      const message = readDelivery(delivery);
      if (message === undefined) {
        this.#deps.logger.error(
          { job: type, streamSequence: delivery.streamSequence },
          'message is not a job; dropped',
        );
        this.#deps.metrics.attempted(type, 'malformed', 0);
        delivery.term('not a job');
        return;
      }
      if (message.content !== undefined) await this.#acceptForeign(type, message, delivery);
      const row = await this.#claim.add(message.id);
      if (row === undefined) await this.#settleUnclaimed(type, message, delivery);
      else await this.#work(row, holding);
    } catch (error) {
      // The database is unavailable: the message is redelivered.
      const log = error instanceof AppError ? 'debug' : 'error';
      this.#deps.logger[log]({ job: type, ...describeFault(error) }, 'job cannot be taken now');
      delivery.nak(500 + Math.random() * 1_500);
    } finally {
      this.#leases.release(holding);
    }
  }

  /**
   * Stores the row of a job from another service at its first delivery. No row is stored while a job with the same key
   * is waiting.
   */
  async #acceptForeign(type: string, { id, content }: DeliveredJob, delivery: Delivery): Promise<void> {
    if (content === undefined) return;
    await this.#accept.add({ id, type, ...content, ...readOrigin(delivery) });
    if (content.delayMs > 0) this.#deps.relay.wakeIn(content.delayMs);
  }

  async #settleUnclaimed(type: string, { id }: DeliveredJob, delivery: Delivery): Promise<void> {
    const status = await readStatus(this.#deps.db, { id });
    if (status === undefined) {
      this.#deps.logger.debug({ job: type, jobId: id }, 'job has another id or does not exist');
      delivery.ack();
    } else if (status.state === 'queued' && status.wait_ms <= 0) {
      delivery.nak(lockedDelayMs); // an open transaction holds the row
    } else if (status.state === 'running' && status.wait_ms > 0) {
      delivery.nak(status.wait_ms + lockedDelayMs);
    } else {
      // The job is finished, not due yet (the relay sends it then), or leased by a worker that died.
      if (status.state === 'running') await this.#deps.sweeper.expire([id]);
      delivery.ack();
    }
  }

  async #work(row: ClaimedRow, holding: HeldLease): Promise<void> {
    const line = this.#lines.get(row.type);
    if (line === undefined) throw new Error(`no worker for ${row.type}`);
    const span = startAttempt(row);
    const traceparent = span?.traceparent ?? newTraceparent(row.traceparent ?? undefined);
    const attempt = new JobAttempt(this.#deps, line.declaration, row, traceparent);
    holding.job = {
      id: row.id,
      lease: row.lease,
      isFenced: () => attempt.fenced,
      onLost: () => attempt.abort(new LeaseLost()),
    };
    const slot = this.#running.add(attempt);
    if (this.#graceIsOver) attempt.abort(new WorkerStopping());
    const startedMs = performance.now();
    let outcome: Outcome;
    let failure: unknown;
    try {
      const result = await (span === undefined
        ? this.#runHandler(line, row, attempt)
        : span.run(() => this.#runHandler(line, row, attempt)));
      const done =
        attempt.completed ||
        (await this.#persist(() => this.#succeed.add({ id: row.id, lease: row.lease, result: encodeResult(result) })));
      outcome = done === true ? 'succeeded' : 'lost';
    } catch (error) {
      failure = attempt.signal.aborted && !(error instanceof PermanentJobError) ? attempt.signal.reason : error;
      outcome = attempt.completed ? 'succeeded' : await this.#end(line, row, failure);
    } finally {
      attempt.end();
      this.#running.remove(slot);
    }
    span?.end({ attributes: { 'job.outcome': outcome }, error: outcome === 'succeeded' ? undefined : outcome });
    this.#report(row, outcome, performance.now() - startedMs, failure, traceparent);
    // After a lost lease, the message belongs to the new lease holder.
    if (outcome !== 'lost') holding.delivery.ack();
  }

  async #runHandler({ handler, check }: Line, row: ClaimedRow, attempt: JobAttempt): Promise<unknown> {
    const payload = parseJson(row.payload);
    const problem = check(payload);
    if (problem !== undefined)
      throw new PermanentJobError(
        `The payload breaks its declaration at /${problem.path.join('/')}: ${problem.message}`,
      );
    const { signal } = attempt;
    signal.throwIfAborted();
    let timer: NodeJS.Timeout | undefined;
    const abandoned = new Promise<never>((_resolve, reject) => {
      signal.addEventListener('abort', () => {
        timer = setTimeout(() => reject(signal.reason as Error), abortGraceMs);
      });
    });
    try {
      return await Promise.race([handler(attempt.createRun(payload) as never), abandoned]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Writes the outcome of an unsuccessful attempt. Returns the actual outcome. */
  async #end({ declaration }: Line, row: ClaimedRow, failure: unknown): Promise<Outcome> {
    const { policy } = declaration;
    const verdict = decideOutcome(failure, policy, { attempt: row.attempts, requeued: row.generation });
    if (verdict.outcome === 'lost') return 'lost';
    const { dead, delayMs, error, counts } = verdict;
    const waits = verdict.outcome === 'postponed';
    const values = {
      id: row.id,
      lease: row.lease,
      dead,
      delay: delayMs,
      error,
      counts,
      waits,
      maxAge: policy.expiresAfterMs,
    };
    const cause = failure instanceof PermanentJobError ? 'permanent' : dead ? 'attempts' : 'age';
    const ended = await this.#persist(() => this.#write(row, values, cause));
    if (ended === undefined) return 'lost';
    if (ended.state === 'dead') return 'dead';
    if (verdict.delayMs === 0) this.#deps.relay.wake();
    else this.#deps.relay.wakeIn(verdict.delayMs);
    return verdict.outcome;
  }

  /** Ends the attempt in the database. Returns undefined when the lease is lost. */
  async #write(
    row: ClaimedRow,
    values: Parameters<typeof endAttempt>[1],
    cause: DeadJob['cause'],
  ): ReturnType<typeof endAttempt> {
    const onDead = this.#onDead;
    if (onDead === undefined) return endAttempt(this.#deps.db, values);
    return this.#deps.jobs.transaction(async (tx) => {
      const ended = await endAttempt(tx, values);
      if (ended?.state === 'dead') {
        const { id, type, payload, request_id: requestId } = row;
        const { attempts, lease, error } = ended;
        await onDead(tx, {
          id,
          type,
          payload: parseJson(payload),
          requestId,
          attempts,
          lease,
          error: error ?? '',
          cause,
        });
      }
      return ended;
    });
  }

  /**
   * Repeats a write while the database is unavailable, for as long as a lease lasts. @throws the error of the last try
   */
  async #persist<T>(write: () => Promise<T>): Promise<T> {
    const until = performance.now() + this.#deps.tuning.leaseMs;
    for (let delayMs = 50; ; delayMs = Math.min(2_000, delayMs * 2)) {
      try {
        return await write();
      } catch (error) {
        if (!(error instanceof AppError) || performance.now() + delayMs > until) throw error;
        await sleep(delayMs);
      }
    }
  }

  #report(row: ClaimedRow, outcome: Outcome, durationMs: number, failure: unknown, traceparent: string): void {
    this.#deps.metrics.attempted(row.type, outcome, durationMs / 1000, traceparent);
    const facts = {
      job: row.type,
      jobId: row.id,
      requestId: row.request_id ?? undefined,
      ...readTraceIds(traceparent),
      attempt: row.attempts,
      outcome,
      durationMs: Math.round(durationMs),
    };
    if (failure === undefined) this.#deps.logger.info(facts, 'job attempt');
    else if (outcome === 'dead') this.#deps.logger.error({ ...facts, ...describeFault(failure) }, 'job is dead');
    else this.#deps.logger.warn({ ...facts, ...describeFault(failure) }, 'job attempt');
  }
}

/** Starts the tracing span of one attempt, in the trace that enqueued the job. */
function startAttempt({ id, type, attempts, traceparent }: ClaimedRow): Span | undefined {
  const attributes = {
    'messaging.system': 'nats',
    'messaging.operation.name': 'process',
    'messaging.operation.type': 'process',
    'messaging.destination.name': `jobs.${type}`,
    'messaging.message.id': id,
    'job.type': type,
    'job.id': id,
    'job.attempt': attempts,
  };
  return findTracer()?.start(`job ${type}`, 'consumer', attributes, traceparent ?? undefined);
}
