/** The interface of the job library for services. */
import type {
  Event,
  Job,
  JobChange,
  LatestJob,
  PayloadOf,
  ServiceContract,
  ServiceStatus,
} from '#libs/infrastructure/contract';
import type { Logger } from '#libs/infrastructure/logger';
import type { Bus, CallContext } from '#libs/infrastructure/nats';
import type { Database, Tx } from '#libs/infrastructure/orm';
import type { Metrics } from '#libs/infrastructure/telemetry';

export interface EnqueueOptions {
  /**
   * Deduplication key: while a job of this type and key is waiting, no second one is created. The waiting job becomes
   * due at the earlier of the two times.
   */
  readonly key?: string | undefined;
  /** Delay before the earliest start, in milliseconds; it survives restarts. */
  readonly delayMs?: number | undefined;
  readonly requestId?: string | undefined;
  readonly traceparent?: string | undefined;
}

/** One attempt of a job, as passed to its handler. */
export interface JobRun<Payload> {
  /** Id of the job, the same for every attempt. Use it as idempotency key of external effects. */
  readonly id: string;
  readonly payload: Payload;
  /** Number of the attempt, from 1. Attempts that ended with `RetryLater` or a stopping worker do not count. */
  readonly attempt: number;
  readonly requestId: string;
  /**
   * Context for calls to other services: request id, trace, signal and deadline of the attempt. It has no actor,
   * because a job acts for its service.
   */
  readonly context: CallContext;
  /** Aborts when the attempt times out, the lease is lost, the job is cancelled or the process stops. */
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
 * Runs one attempt. If it returns a result, the result is stored with the job. External effects must be idempotent;
 * effects on the database belong in `run.complete`. `PermanentJobError` makes the job dead. `RetryLater` queues it
 * again without counting the attempt. After other errors the job is retried with the policy's backoff until its
 * attempts or age are exhausted.
 */
export type JobHandler<Payload = unknown> = (run: JobRun<Payload>) => Promise<unknown>;

/** A job that has become dead. */
export interface DeadJob {
  readonly id: string;
  readonly type: string;
  readonly payload: unknown;
  readonly requestId: string | null;
  readonly attempts: number;
  /** Lease number, which differs for each time that the job becomes dead. */
  readonly lease: number;
  readonly error: string;
  /**
   * Why the job is dead: `permanent` (PermanentJobError), `attempts` (no attempts left) or `age` (older than the policy
   * allows).
   */
  readonly cause: 'permanent' | 'attempts' | 'age';
}

/** Called in the transaction that makes a job dead. An error rolls the transaction back, and the sweeper retries it. */
export type OnDead = (tx: Tx, job: DeadJob) => Promise<void>;

/** One handler for each declared job, under the job's key in the contract. */
export type JobHandlers<C extends ServiceContract> = {
  readonly [K in keyof C['jobs']]: JobHandler<PayloadOf<C['jobs'][K]>>;
};

/** Timing of the job library. Defaults are for production; tests shorten them. */
export interface JobTuning {
  /**
   * Lease time of a running job and ack wait of its message, in milliseconds. Both are renewed every third of it.
   * Default 30 000.
   */
  readonly leaseMs: number;
  /** Polling interval of the relay. Default 1 000. */
  readonly pollMs: number;
  /** Interval of the sweeper. Default 15 000. */
  readonly sweepMs: number;
  /**
   * Time after which a published job that has not started is published again, if the broker has no backlog. Default 60
   * 000.
   */
  readonly queuedTooLongMs: number;
  /** Time after which outbox rows claimed by a dead process are claimed again. Default 10 000. */
  readonly outboxClaimMs: number;
  /** Acknowledgement timeout of one message. Default 2 000. */
  readonly publishTimeoutMs: number;
  /** Time for running attempts to finish when the process stops; then their jobs are released. Default 15 000. */
  readonly stopGraceMs: number;
  /** Time for which succeeded and cancelled jobs are stored. Default 7 days. */
  readonly finishedRetentionMs: number;
}

export interface JobsOptions<C extends ServiceContract = ServiceContract> {
  readonly contract: C;
  readonly db: Database;
  readonly bus: Bus;
  readonly logger: Logger;
  readonly metrics?: Metrics | undefined;
  /** Worker name recorded with running jobs. Default: host name and process id. */
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
   * Runs a transaction like `db.transaction` and waits until its messages are published, so that subscribers are
   * notified before the caller gets its reply. Waits at most a second; the relay publishes the remaining messages.
   */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /**
   * Starts relay, sweeper and workers. A service that only enqueues and emits must also call it, without handlers.
   * @throws Error when handlers and declared jobs do not match; AppError unavailable when the broker is unavailable
   */
  work(handlers: JobHandlers<C>, options?: WorkOptions): Promise<void>;
  work(handlers: Readonly<Record<string, JobHandler<never>>>, options?: WorkOptions): Promise<void>;
  /** Stops claiming jobs, lets running attempts finish or releases their jobs, and publishes the outbox. */
  stop(): Promise<void>;
  /**
   * Makes waiting jobs due whose payload has all values of `match`. Their attempts and age do not change; jobs in other
   * states are unaffected.
   * @returns the number of jobs
   */
  wake<J extends Job>(declaration: J, match: Partial<PayloadOf<J>>): Promise<number>;
  /** Operator access, for `jobAdminHandlers`. */
  readonly admin: JobAdmin;
}

export type JobState = 'queued' | 'running' | 'succeeded' | 'dead' | 'cancelled';

/** Filter for jobs; an absent field does not filter. */
export interface JobFilter {
  readonly state?: JobState | undefined;
  readonly type?: string | undefined;
  readonly key?: string | undefined;
  /** Substring of the stored error text. */
  readonly error?: string | undefined;
  /** Conversation id in the payload. */
  readonly conversation_id?: number | undefined;
  readonly request_id?: string | undefined;
  /** Timestamps; `created_after` is inclusive, `created_before` exclusive. */
  readonly created_after?: string | undefined;
  readonly created_before?: string | undefined;
}

/** Jobs to change: all jobs that match the filter, or those of `ids` that match. */
export interface ChangeRequest extends JobFilter {
  readonly ids?: readonly string[] | undefined;
  /** True: only counts the jobs. */
  readonly dry_run?: boolean | undefined;
}

/** Records a change in its transaction, e.g. in the audit log. Not called when no job changed. */
export type RecordChange = (tx: Tx, counts: Omit<JobChange, 'items'>) => void;

/**
 * Operator access to the jobs of one service. Each change is one transaction. Replies are JSON text from SQL in the
 * shape of `jobSchema`.
 */
export interface JobAdmin {
  /** Lists jobs, newest first. `before` is the last id of the previous page. */
  list(
    filter: JobFilter & { readonly limit: number; readonly before?: string | undefined; readonly inclusive?: boolean },
  ): Promise<string>;
  /** Returns a job with payload, result and attempts; undefined when it does not exist. */
  find(id: string): Promise<string | undefined>;
  /** Returns the newest job of a type for each conversation. */
  findLatest(type: string, conversationIds: readonly number[]): Promise<LatestJob[]>;
  /** Runs a waiting, dead or cancelled job now. @returns the state of the job; undefined when it does not exist */
  retry(id: string, record?: (tx: Tx) => void): Promise<JobState | undefined>;
  /** Returns the number of jobs and the oldest creation time by type and state. */
  count(): Promise<ServiceStatus['jobs']>;
  /** Queues dead jobs again with all attempts. Cancelled jobs are queued again only by id. */
  redrive(request: ChangeRequest, record?: RecordChange): Promise<JobChange>;
  /**
   * Cancels queued and running jobs; a running attempt is aborted and cannot complete. Dead jobs are cancelled only by
   * id or with the filter `dead`.
   */
  cancel(request: ChangeRequest, record?: RecordChange): Promise<JobChange>;
}

/** Default times in milliseconds. */
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
