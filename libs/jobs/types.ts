/** The face of the job library: what a service hands in and gets. */
import type { Event, Job, JobChange, LatestJob, PayloadOf, ServiceContract, ServiceStatus } from '#libs/contract';
import type { Logger } from '#libs/logger';
import type { Bus, CallContext } from '#libs/nats';
import type { Database, Tx } from '#libs/orm';
import type { Metrics } from '#libs/telemetry';

export interface EnqueueOptions {
  /** While a job of this type and key waits to be run for the first time or again, no second one is made; it is run no later. */
  readonly key?: string | undefined;
  /** Not before this time; survives any restart. */
  readonly delayMs?: number | undefined;
  readonly requestId?: string | undefined;
  readonly traceparent?: string | undefined;
}

/** One attempt of one job, as its handler sees it. */
export interface JobRun<Payload> {
  /** Same for every attempt: the key for idempotent effects elsewhere. */
  readonly id: string;
  readonly payload: Payload;
  /** 1 for the first; attempts that ended in `RetryLater` or a stopping worker are not counted. */
  readonly attempt: number;
  readonly requestId: string;
  /** For calls to other services: request id, trace, signal, deadline of the attempt. No actor: a job acts for its service. */
  readonly context: CallContext;
  /** Aborts at the attempt's timeout, when the lease is lost, the job is cancelled or the process stops. */
  readonly signal: AbortSignal;
  readonly logger: Logger;
  /** Tells how far the work is (0 to 100) and what it does now; shown by the CLI. Written at most a few times a second. */
  progress(percent: number, phase?: string): void;
  /**
   * Runs the job's effect on this service's database and marks it succeeded, in one transaction: both happen once or not at all.
   * What `work` enqueues and emits on its `tx` belongs to it. A result that is not undefined is kept with the job.
   * @throws LeaseLost when another worker holds the job; let it pass.
   */
  complete(work: (tx: Tx) => Promise<unknown>): Promise<void>;
}

/**
 * Works one job. Returns when it is done (the result, if any, is kept with the job); an effect outside the database must bear being
 * done again, one inside belongs in `run.complete`. Throws `PermanentJobError` → dead, `RetryLater` → again without counting, anything else →
 * again after the policy's backoff until its attempts or its age are used up, then dead.
 */
export type JobHandler<Payload = unknown> = (run: JobRun<Payload>) => Promise<unknown>;

/** A job that has just died. */
export interface DeadJob {
  readonly id: string;
  readonly type: string;
  readonly payload: unknown;
  readonly requestId: string | null;
  readonly attempts: number;
  /** Another one for each death of a job. */
  readonly lease: number;
  readonly error: string;
  /** `permanent`: its handler said so; `attempts`: none is left; `age`: it is older than its policy allows. */
  readonly cause: 'permanent' | 'attempts' | 'age';
}

/** Called in the transaction in which a job dies. What it throws leaves the job as it was, until it is looked at again. */
export type OnDead = (tx: Tx, job: DeadJob) => Promise<void>;

/** One handler for each declared job, under the declaration's key. */
export type JobHandlers<C extends ServiceContract> = { readonly [K in keyof C['jobs']]: JobHandler<PayloadOf<C['jobs'][K]>> };

/** Times of the machinery. The defaults are for production; tests shorten them. */
export interface JobTuning {
  /** Lease of a running job and ack wait of its message; renewed at a third of it. Default 30 000. */
  readonly leaseMs: number;
  /** How often the relay looks for what nobody has sent. Default 1 000. */
  readonly pollMs: number;
  /** How often the sweeper repairs. Default 15 000. */
  readonly sweepMs: number;
  /** A job handed to the broker that nobody started for this long is sent again if the broker has nothing waiting. Default 60 000. */
  readonly queuedTooLongMs: number;
  /** An outbox row taken by a process that died is taken again after this. Default 10 000. */
  readonly outboxClaimMs: number;
  /** The broker's acknowledgement of one message. Default 2 000. */
  readonly publishTimeoutMs: number;
  /** Running work may finish for this long when the process stops; then it is given back. Default 15 000. */
  readonly stopGraceMs: number;
  /** Succeeded and cancelled jobs are kept for this long. Default 7 days. */
  readonly finishedRetentionMs: number;
}

export interface JobsOptions<C extends ServiceContract = ServiceContract> {
  readonly contract: C;
  readonly db: Database;
  readonly bus: Bus;
  readonly logger: Logger;
  readonly metrics?: Metrics | undefined;
  /** Shown with running jobs; default host name and process id. */
  readonly worker?: string | undefined;
  readonly tuning?: Partial<JobTuning> | undefined;
}

export interface WorkOptions {
  readonly onDead?: OnDead;
}

export interface Jobs<C extends ServiceContract = ServiceContract> {
  /**
   * Puts a job of any service into the transaction: it exists when and only when the transaction commits.
   * @returns the job's id, or that of the job already waiting under the same key.
   * @throws Error when the payload breaks the declaration or this service may not start the job: a fault of the caller.
   */
  enqueue<J extends Job>(tx: Tx, declaration: J, payload: PayloadOf<J>, options?: EnqueueOptions): Promise<string>;
  /** Tells an event when and only when the transaction commits; events of one service arrive in the order of their transactions. */
  emit<E extends Event>(
    tx: Tx,
    declaration: E,
    payload: PayloadOf<E>,
    options?: Pick<EnqueueOptions, 'requestId' | 'traceparent'>,
  ): Promise<void>;
  /**
   * `db.transaction`, and what it put into the outbox is with the broker when this returns, so that listeners are told before the
   * caller is answered. Waits at most a second for it; the relay does the rest.
   */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /**
   * Starts relay, sweeper and workers; call it also without handlers in a service that only enqueues and emits.
   * @throws Error when a declared job has no handler or a handler no declaration; AppError unavailable when the broker is away.
   */
  work(handlers: JobHandlers<C>, options?: WorkOptions): Promise<void>;
  work(handlers: Readonly<Record<string, JobHandler<never>>>, options?: WorkOptions): Promise<void>;
  /** Takes no new work, lets running attempts finish or gives them back, hands the outbox to the broker. */
  stop(): Promise<void>;
  /**
   * Makes waiting jobs of this service due now whose payload has all of these values: what they waited for has happened. Attempts and age
   * count on; a job that runs, is over or was never made is left alone.
   * @returns how many
   */
  wake<J extends Job>(declaration: J, match: Partial<PayloadOf<J>>): Promise<number>;
  /** For `jobAdminHandlers`. */
  readonly admin: JobAdmin;
}

export type JobState = 'queued' | 'running' | 'succeeded' | 'dead' | 'cancelled';

/** Which jobs are meant; what is absent limits nothing. */
export interface JobFilter {
  readonly state?: JobState | undefined;
  readonly type?: string | undefined;
  readonly key?: string | undefined;
  /** Part of the stored error text. */
  readonly error?: string | undefined;
  /** Of the payload. */
  readonly conversation_id?: number | undefined;
  readonly request_id?: string | undefined;
  /** Instants; the first counts, the second does not. */
  readonly created_after?: string | undefined;
  readonly created_before?: string | undefined;
}

/** Jobs to be changed: all that match, of `ids` alone where they are given. */
export interface ChangeRequest extends JobFilter {
  readonly ids?: readonly string[] | undefined;
  /** Counts, and changes nothing. */
  readonly dry_run?: boolean | undefined;
}

/** Writes of a change, in its transaction, how many jobs it took; not called when it took none. */
export type RecordChange = (tx: Tx, counts: Omit<JobChange, 'items'>) => void;

/** What operators do with jobs of one service. Each change is one transaction. Replies are JSON text made by SQL, in the shape of `jobSchema`. */
export interface JobAdmin {
  /** Newest first; `before` is the id of the last one of the page before. */
  list(filter: JobFilter & { readonly limit: number; readonly before?: string | undefined; readonly inclusive?: boolean }): Promise<string>;
  /** With payload, result and attempts; undefined when there is none. */
  find(id: string): Promise<string | undefined>;
  /** The newest job of a type for each conversation. */
  findLatest(type: string, conversationIds: readonly number[]): Promise<LatestJob[]>;
  /** Runs a job now: one that waits, is dead or cancelled. @returns its state; undefined when there is none */
  retry(id: string, record?: (tx: Tx) => void): Promise<JobState | undefined>;
  /** How many there are by type and state, and when the oldest of each was asked for. */
  count(): Promise<ServiceStatus['jobs']>;
  /** dead → queued, a new life with all attempts; so is a cancelled job that is named. */
  redrive(request: ChangeRequest, record?: RecordChange): Promise<JobChange>;
  /** queued or running → cancelled: a running attempt is aborted and can no longer complete; so is a dead job that is named or asked for. */
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
