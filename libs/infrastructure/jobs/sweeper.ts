/**
 * Recovers jobs whose worker died before its lease expired, and jobs whose message was lost. Every replica runs a
 * sweeper; the statements skip rows that another sweeper has locked.
 */
import { consumerOf, type Job } from '#libs/infrastructure/contract';
import { parseJson } from '#libs/infrastructure/json';
import type { Logger } from '#libs/infrastructure/logger';
import type { Bus } from '#libs/infrastructure/nats';
import type { Database } from '#libs/infrastructure/orm';
import { removeInBatches } from '#libs/infrastructure/retention';
import { describeFault } from './errors.ts';
import { policyColumns, type PolicyColumns } from './policy.ts';
import type { Relay } from './relay.ts';
import { deleteFinished, deleteSentRemoteJobs, expireLeases, findOverdueTypes, requeueOverdue } from './statements.ts';
import type { Jobs, JobTuning, OnDead } from './types.ts';
import { minUuidAt } from './uuid.ts';

/** If the broker has a backlog, a queued job is published again only after this multiple of the usual limit. */
const timeout = 15;
/**
 * Time for which published jobs for other services are recorded. It is shorter than the retention of finished jobs, so
 * that a receiver recognizes a job that it has already run.
 */
const keepHandedOverMs = 86_400_000;
const expiredText = 'The worker stopped before the job was done (its lease expired)';

export class Sweeper {
  readonly #db: Database;
  readonly #bus: Bus;
  readonly #jobs: Pick<Jobs, 'transaction'>;
  readonly #relay: Relay;
  readonly #logger: Logger;
  readonly #tuning: JobTuning;
  readonly #policies: PolicyColumns;
  readonly #stopping = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #sweeping: Promise<void> | undefined;
  #failing = false;
  #onDead: OnDead | undefined;

  constructor(deps: {
    db: Database;
    bus: Bus;
    jobs: Pick<Jobs, 'transaction'>;
    relay: Relay;
    logger: Logger;
    tuning: JobTuning;
    declarations: readonly Job[];
  }) {
    this.#db = deps.db;
    this.#bus = deps.bus;
    this.#jobs = deps.jobs;
    this.#relay = deps.relay;
    this.#logger = deps.logger;
    this.#tuning = deps.tuning;
    this.#policies = policyColumns(deps.declarations);
  }

  start(onDead: OnDead | undefined): void {
    this.#onDead = onDead;
    const schedule = (): void => {
      // Jitter spreads the sweeps of replicas that started at the same time.
      const delayMs = this.#tuning.sweepMs * (0.75 + Math.random() / 2);
      this.#timer = setTimeout(() => void this.sweep().then(schedule), delayMs);
    };
    schedule();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    clearTimeout(this.#timer);
    await this.#sweeping;
    clearTimeout(this.#timer);
  }

  /** Runs one sweep. Never rejects. */
  sweep(): Promise<void> {
    this.#sweeping ??= this.#sweepOnce().finally(() => (this.#sweeping = undefined));
    return this.#sweeping;
  }

  /**
   * Recovers all jobs with expired leases, or those of `ids`. A job is queued again, or becomes dead after its last
   * attempt.
   */
  async expire(ids: readonly string[] | null): Promise<void> {
    const onDead = this.#onDead;
    const values = { ...this.#policies, ids, error: expiredText };
    const rows = await (onDead === undefined
      ? expireLeases(this.#db, values)
      : this.#jobs.transaction(async (tx) => {
          const expired = await expireLeases(tx, values);
          for (const { state, payload, request_id: requestId, ...job } of expired) {
            if (state === 'dead')
              await onDead(tx, {
                ...job,
                payload: parseJson(payload),
                requestId,
                error: expiredText,
                cause: 'attempts',
              });
          }
          return expired;
        }));
    for (const { id, type, state } of rows)
      this.#logger.warn({ job: type, jobId: id, state }, 'lease of a job expired');
    if (rows.length > 0) this.#relay.wake();
  }

  async #sweepOnce(): Promise<void> {
    try {
      await this.expire(null);
      await this.#requeueOverdue();
      await this.#removeOld();
      this.#failing = false;
    } catch (error) {
      if (!this.#failing) this.#logger.warn(describeFault(error), 'jobs cannot be swept now');
      this.#failing = true;
    }
  }

  /** Deletes expired rows. The next recovery waits for it, so it uses only part of the interval between two sweeps. */
  async #removeOld(): Promise<void> {
    const { finishedRetentionMs: age, sweepMs } = this.#tuning;
    const { signal } = this.#stopping;
    const budgetMs = sweepMs / 3;
    const oldestRetained = minUuidAt(Date.now() - age);
    let after = minUuidAt(0);
    const removeFinished = async (limit: number): Promise<number> => {
      const { count, last } = await deleteFinished(this.#db, { after, oldestKept: oldestRetained, age, limit });
      after = last ?? after;
      return count;
    };
    await removeInBatches({ remove: removeFinished, signal, budgetMs });
    const removeHandedOver = async (limit: number): Promise<number> =>
      (await deleteSentRemoteJobs(this.#db, { age: keepHandedOverMs, limit })).count;
    await removeInBatches({ remove: removeHandedOver, signal, budgetMs });
  }

  /**
   * Publishes jobs again that were published and have not started. If the broker has a backlog, a job may still be
   * waiting there; otherwise its message was lost.
   */
  async #requeueOverdue(): Promise<void> {
    const limitMs = this.#tuning.queuedTooLongMs;
    const overdue = await findOverdueTypes(this.#db, { age: limitMs });
    for (const { type, age_ms: ageMs } of overdue) {
      if (!this.#policies.types.includes(type)) continue;
      const lag = await this.#bus.consumerLag('JOBS', consumerOf(type)).catch(() => undefined);
      const waiting = lag === undefined ? 0 : lag.pending + lag.ackPending;
      if (waiting > 0 && ageMs < limitMs * timeout) continue;
      const rows = await requeueOverdue(this.#db, { type, age: waiting > 0 ? limitMs * timeout : limitMs });
      if (rows.length > 0) {
        this.#logger.warn({ job: type, count: rows.length }, 'jobs are sent again: the broker has lost them');
        this.#relay.wake();
      }
    }
  }
}
