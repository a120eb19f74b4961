/** The interface of the job library for services. */
import type { Event, Job, JobChange, LatestJob, PayloadOf, ServiceContract, ServiceStatus } from '#libs/contract';
import type { Logger } from '#libs/logger';
import type { Bus, CallContext } from '#libs/nats';
import type { Database, Tx } from '#libs/orm';
import type { Metrics } from '#libs/telemetry';

export interface EnqueueOptions {
  /** While a job of this type and key is waiting, no second one is created; its due time becomes the earlier one. */
  readonly key?: string | undefined;
  /** Earliest start; survives restarts. */
  readonly delayMs?: number | undefined;
  readonly requestId?: string | undefined;
  readonly traceparent?: string | undefined;
}

/** One attempt of a job, as passed to its handler. */
export interface JobRun<Payload> {
  /** The same for every attempt: use it as idempotency key of external effects. */
  readonly id: string;
  readonly payload: Payload;
  /** From 1; attempts that ended with `RetryLater` or a stopping worker do not count. */
  readonly attempt: number;
  readonly requestId: string;
  /**
   * Context for calls to other services: request id, trace, signal and deadline of the attempt. No actor: a job acts
   * for its service.
   */
  readonly context: CallContext;
  /** Aborts at the attempt's timeout, when the lease is lost, the job is cancelled or the process stops. */
  readonly signal: AbortSignal;
  readonly logger: Logger;
  /** Reports progress (0 to 100) and the current phase, for the CLI. Written at most a few times a second. */
  progress(percent: number, phase?: string): void;
  /**
   * Runs the job's effect on this service's database and marks the job succeeded, in one transaction. `work` enqueues
   * and emits on its `tx`. A result other than undefined is stored with the job.
   * @throws LeaseLost when another worker has the job; do not catch it.
   */
  complete(work: (tx: Tx) => Promise<unknown>): Promise<void>;
}

/**
 * Runs one attempt. Its result, if any, is stored with the job. External effects must be idempotent; effects on the
 * database belong in `run.complete`. `PermanentJobError` makes the job dead, `RetryLater` queues it again without
 * counting; other errors are retried with the policy's backoff until its attempts or age are exhausted.
 */
export type JobHandler<Payload = unknown> = (run: JobRun<Payload>) => Promise<unknown>;

/** A job that has become dead. */
export interface DeadJob {
  readonly id: string;
  readonly type: string;
  readonly payload: unknown;
  readonly requestId: string | null;
  readonly attempts: number;
  /** Differs for each death of the same job. */
  readonly lease: number;
  readonly error: string;
  /** `permanent`: PermanentJobError; `attempts`: none left; `age`: older than the policy allows. */
  readonly cause: 'permanent' | 'attempts' | 'age';
}

/** Called in the transaction that makes a job dead. An error rolls it back; the sweeper retries. */
export type OnDead = (tx: Tx, job: DeadJob) => Promise<void>;

/** One handler for each declared job, under the declaration's key. */
export type JobHandlers<C extends ServiceContract> = {
  readonly [K in keyof C['jobs']]: JobHandler<PayloadOf<C['jobs'][K]>>;
};

/** Timing of the job library. Defaults are for production; tests shorten them. */
export interface JobTuning {
  /** Lease of a running job and ack wait of its message, renewed at a third. Default 30 000. */
  readonly leaseMs: number;
  /** Polling interval of the relay. Default 1 000. */
  readonly pollMs: number;
  /** Interval of the sweeper. Default 15 000. */
  readonly sweepMs: number;
  /**
   * A published job that did not start in this time is published again if the broker has no backlog. Default 60 000.
   */
  readonly queuedTooLongMs: number;
  /** Time after which outbox rows claimed by a dead process are claimed again. Default 10 000. */
  readonly outboxClaimMs: number;
  /** Acknowledgement timeout of one message. Default 2 000. */
  readonly publishTimeoutMs: number;
  /** Time for running attempts to finish when the process stops; then their jobs are released. Default 15 000. */
  readonly stopGraceMs: number;
  /** Retention of succeeded and cancelled jobs. Default 7 days. */
  readonly finishedRetentionMs: number;
}

export interface JobsOptions<C extends ServiceContract = ServiceContract> {
  readonly contract: C;
  readonly db: Database;
  readonly bus: Bus;
  readonly logger: Logger;
  readonly metrics?: Metrics | undefined;
  /** Worker name of running jobs; default host name and process id. */
  readonly worker?: string | undefined;
  readonly tuning?: Partial<JobTuning> | undefined;
}

export interface WorkOptions {
  readonly onDead?: OnDead;
}

export interface Jobs<C extends ServiceContract = ServiceContract> {
  /**
   * Enqueues a job of any service with the transaction.
   * @returns the job's id, or that of the waiting job with the same key
   * @throws Error when the payload violates its schema or this service may not start the job: a programming error
   */
  enqueue<J extends Job>(tx: Tx, declaration: J, payload: PayloadOf<J>, options?: EnqueueOptions): Promise<string>;
  /** Emits an event with the transaction. Events of one service are delivered in the order of their transactions. */
  emit<E extends Event>(
    tx: Tx,
    declaration: E,
    payload: PayloadOf<E>,
    options?: Pick<EnqueueOptions, 'requestId' | 'traceparent'>,
  ): Promise<void>;
  /**
   * Like `db.transaction`, and waits until its messages are published, so that subscribers are notified before the
   * caller gets its reply. Waits at most a second; the relay publishes the rest.
   */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /**
   * Starts relay, sweeper and workers; also required, without handlers, in a service that only enqueues and emits.
   * @throws Error when handlers and declared jobs do not match; AppError unavailable when the broker is unavailable
   */
  work(handlers: JobHandlers<C>, options?: WorkOptions): Promise<void>;
  work(handlers: Readonly<Record<string, JobHandler<never>>>, options?: WorkOptions): Promise<void>;
  /** Stops claiming jobs, lets running attempts finish or releases their jobs, and publishes the outbox. */
  stop(): Promise<void>;
  /**
   * Makes waiting jobs due whose payload has all of these values. Attempts and age are kept; jobs in other states are
   * unchanged.
   * @returns how many
   */
  wake<J extends Job>(declaration: J, match: Partial<PayloadOf<J>>): Promise<number>;
  /** For `jobAdminHandlers`. */
  readonly admin: JobAdmin;
}

export type JobState = 'queued' | 'running' | 'succeeded' | 'dead' | 'cancelled';

/** Filter of jobs; absent fields do not restrict. */
export interface JobFilter {
  readonly state?: JobState | undefined;
  readonly type?: string | undefined;
  readonly key?: string | undefined;
  /** Substring of the stored error text. */
  readonly error?: string | undefined;
  /** Of the payload. */
  readonly conversation_id?: number | undefined;
  readonly request_id?: string | undefined;
  /** Timestamps; after is inclusive, before exclusive. */
  readonly created_after?: string | undefined;
  readonly created_before?: string | undefined;
}

/** Jobs to change: all that match, or those of `ids` that match. */
export interface ChangeRequest extends JobFilter {
  readonly ids?: readonly string[] | undefined;
  /** Only counts. */
  readonly dry_run?: boolean | undefined;
}

/** Records a change in its transaction; not called when no job changed. */
export type RecordChange = (tx: Tx, counts: Omit<JobChange, 'items'>) => void;

/**
 * Operator access to the jobs of one service. Each change is one transaction. Replies are JSON text from SQL in the
 * shape of `jobSchema`.
 */
export interface JobAdmin {
  /** Newest first; `before` is the last id of the previous page. */
  list(
    filter: JobFilter & { readonly limit: number; readonly before?: string | undefined; readonly inclusive?: boolean },
  ): Promise<string>;
  /** With payload, result and attempts; undefined when not found. */
  find(id: string): Promise<string | undefined>;
  /** The newest job of a type for each conversation. */
  findLatest(type: string, conversationIds: readonly number[]): Promise<LatestJob[]>;
  /** Runs a waiting, dead or cancelled job now. @returns its state; undefined when not found */
  retry(id: string, record?: (tx: Tx) => void): Promise<JobState | undefined>;
  /** Counts and oldest creation time by type and state. */
  count(): Promise<ServiceStatus['jobs']>;
  /** Queues dead jobs again with all attempts; cancelled ones only by id. */
  redrive(request: ChangeRequest, record?: RecordChange): Promise<JobChange>;
  /**
   * Cancels queued and running jobs; a running attempt is aborted and cannot complete. Dead jobs only by id or with the
   * filter `dead`.
   */
  cancel(request: ChangeRequest, record?: RecordChange): Promise<JobChange>;
}

/** Default times, milliseconds. */
export const defaultTuning: JobTuning = Object.freeze({
  leaseMs: 30_000,
  pollMs: 1_000,
  sweepMs: 15_000,
  queuedTooLongMs: 60_000,
  outboxClaimMs: 10_000,
  publishTimeoutMs: 2_000,
  stopGraceMs: 15_000,
  finishedRetentionMs: 7 * 86_400_000,
});
