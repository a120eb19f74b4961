/**
 * One attempt of a job: the interface for its handler, the time limit, and the completion in a transaction that checks
 * the lease.
 */
import type { Job } from '#libs/infrastructure/contract';
import type { Logger } from '#libs/infrastructure/logger';
import { newContext } from '#libs/infrastructure/nats';
import type { Tx } from '#libs/infrastructure/orm';
import { readTraceIds } from '#libs/infrastructure/telemetry';
import { AttemptTimeout, describeFault, LeaseLost } from './errors.ts';
import { type ClaimedRow, storeResult, succeedJobs, writeProgress } from './statements.ts';
import type { JobRun, Jobs, JobTuning } from './types.ts';
import type { Database } from '#libs/infrastructure/orm';

const progressIntervalMs = 250;
/** Maximum length of a result. Results are for operators; larger data belongs in the tables of the service. */
const maxResultLength = 16_384;

export interface AttemptDependencies {
  readonly service: string;
  readonly db: Database;
  readonly jobs: Pick<Jobs, 'transaction'>;
  readonly logger: Logger;
  readonly tuning: JobTuning;
}

/** Returns a handler's result as JSON; null when the handler returned no result. */
export function encodeResult(result: unknown): string | null {
  if (result === undefined || result === null) return null;
  const text = JSON.stringify(result) as string | undefined;
  return text === undefined || text.length > maxResultLength ? null : text;
}

export class JobAttempt {
  readonly #deps: AttemptDependencies;
  readonly #declaration: Job;
  readonly #row: ClaimedRow;
  readonly #traceparent: string;
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #progressTimer: NodeJS.Timeout | undefined;
  #progress: { percent: number; phase: string | null } | undefined;
  #progressWrittenMs = -Infinity;
  #over = false;
  /** True once the effect and the state `succeeded` are committed. */
  completed = false;
  /**
   * True while the transaction of `complete` locks the row of the job. A lease renewal or progress report would wait
   * for the lock and delay the renewals of other jobs.
   */
  fenced = false;

  constructor(deps: AttemptDependencies, declaration: Job, row: ClaimedRow, traceparent: string) {
    this.#traceparent = traceparent;
    this.#deps = deps;
    this.#declaration = declaration;
    this.#row = row;
    this.#timer = setTimeout(
      () => this.abort(new AttemptTimeout(declaration.policy.timeoutMs)),
      Math.min(declaration.policy.timeoutMs, 2 ** 31 - 1),
    );
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  abort(reason: Error): void {
    if (!this.#over) this.#controller.abort(reason);
  }

  end(): void {
    this.#over = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#progressTimer);
  }

  /** Returns the interface for the handler. Its functions can be destructured. */
  createRun(payload: unknown): JobRun<unknown> {
    const { id, type, attempts, request_id: requestId } = this.#row;
    const traceparent = this.#traceparent;
    const deadlineMs = Date.now() + this.#declaration.policy.timeoutMs;
    const { signal } = this;
    const parent = this.#deps.logger;
    const context = newContext({
      ...(requestId === null ? {} : { requestId }),
      traceparent,
      signal,
      deadlineMs,
    });
    let logger: Logger | undefined;
    return {
      id,
      payload,
      attempt: attempts,
      requestId: context.requestId,
      context,
      signal,
      get logger() {
        return (logger ??= parent.child({
          job: type,
          jobId: id,
          requestId: context.requestId,
          ...readTraceIds(traceparent),
        }));
      },
      progress: (percent, phase) => this.#report(percent, phase),
      complete: (work) => this.#complete(work),
    };
  }

  async #complete(work: (tx: Tx) => Promise<unknown>): Promise<void> {
    if (this.completed) throw new Error('The job is already complete');
    const { id, lease } = this.#row;
    const effect = this.#deps.jobs.transaction(async (tx) => {
      this.signal.throwIfAborted();
      // Checks the lease first. The check locks the row, so that no other worker can claim the job before this
      // transaction ends.
      this.fenced = true;
      const rows = await succeedJobs(tx, { ids: [id], leases: [lease], results: [null] });
      if (rows.length === 0) throw new LeaseLost();
      const result = encodeResult(await work(tx));
      if (result !== null) await storeResult(tx, { id, result });
    });
    await effect.catch((error: unknown) => {
      this.fenced = false;
      throw error;
    });
    this.completed = true;
  }

  #report(percent: number, phase?: string): void {
    if (this.#over) return;
    this.#progress = {
      percent: Math.min(100, Math.max(0, Math.floor(percent))) || 0,
      phase: phase ?? this.#progress?.phase ?? null,
    };
    if (this.#progressTimer !== undefined) return;
    const waitMs = Math.max(0, this.#progressWrittenMs + progressIntervalMs - performance.now());
    this.#progressTimer = setTimeout(() => void this.#writeProgress(), waitMs);
  }

  /** Writes the last reported progress. Never rejects: a failure is only logged. */
  async #writeProgress(): Promise<void> {
    this.#progressTimer = undefined;
    this.#progressWrittenMs = performance.now();
    const progress = this.#progress;
    if (progress === undefined || this.#over || this.fenced) return;
    try {
      const { id, lease } = this.#row;
      await writeProgress(this.#deps.db, { id, lease, ...progress, duration: this.#deps.tuning.leaseMs });
    } catch (error) {
      this.#deps.logger.debug(describeFault(error), 'progress not written');
    }
  }
}
