/** Watches jobs of one type by reading their table: waits for states, and ends backoffs and leases early. */
import type { JsonObject } from '#libs/infrastructure/json';
import type { JobTuning } from '#libs/infrastructure/jobs';
import type { TestEnvironment } from './environment.ts';
import { waitFor } from './wait-for.ts';

/** Job settings with short intervals, for services that tests kill and restart. */
export const fastJobTuning: Partial<JobTuning> = Object.freeze({
  leaseMs: 4_000,
  sweepMs: 800,
  pollMs: 200,
  queuedTooLongMs: 4_000,
  stopGraceMs: 2_000,
});

export interface StoredJob {
  readonly id: string;
  readonly state: string;
  readonly attempts: number;
  readonly error: string | null;
  readonly phase: string | null;
  readonly percent: number;
  readonly result: JsonObject | null;
}

/** Finds jobs by conversation. If a conversation has several jobs, the latest is used. */
export interface JobWatch {
  /** Returns the jobs of the conversation, oldest first. */
  list(conversationId: number): Promise<StoredJob[]>;
  latest(conversationId: number): Promise<StoredJob | undefined>;
  /** Waits until the job reaches a final state and returns the job; default `succeeded`. */
  waitForState(conversationId: number, state?: 'succeeded' | 'dead', timeoutMs?: number): Promise<StoredJob>;
  /** Waits until an attempt fails, optionally with an error that matches, and returns the error. */
  waitForError(conversationId: number, error?: string | RegExp): Promise<string>;
  /** Waits until the job is in the phase and returns the job. */
  waitForPhase(conversationId: number, phase: string): Promise<StoredJob>;
  /** Makes jobs in backoff due immediately. */
  makeDue(): Promise<void>;
  /** Queues finished jobs again. */
  requeue(conversationId: number): Promise<void>;
  /** Expires the leases of killed workers. */
  expireLeases(): Promise<void>;
  /** Waits until the sweeper has queued the job of a killed worker again, then makes it due. */
  requeueAfterCrash(conversationId: number): Promise<void>;
}

const endTimeoutMs = 60_000;
/** Includes the time in which a process that runs the job may have to start. */
const reachTimeoutMs = 120_000;

/** @param type `<service>.<job>` */
export function watchJobs(env: Pick<TestEnvironment, 'sql'>, type: string): JobWatch {
  const table = `${type.split('.', 1)[0]}.jobs`;
  const list: JobWatch['list'] = async (id) => {
    const rows = await env.sql<Omit<StoredJob, 'result'> & { result: string | null }>(
      `select id::text, state, attempts, error, phase, percent, result::text from ${table}
       where type = $1 and payload->>'conversation_id' = $2 order by id`,
      [type, String(id)],
    );
    return rows.map((row) => ({ ...row, result: row.result === null ? null : (JSON.parse(row.result) as JsonObject) }));
  };
  const latest: JobWatch['latest'] = async (id) => (await list(id)).at(-1);

  const waitForJob = (
    id: number,
    what: string,
    fits: (job: StoredJob) => boolean,
    timeoutMs = endTimeoutMs,
  ): Promise<StoredJob> =>
    waitFor(
      async () => {
        const job = await latest(id);
        if (job === undefined || !fits(job)) throw new Error(JSON.stringify(job));
        return job;
      },
      { timeoutMs, what: `${type} of conversation ${id} ${what}` },
    );

  const makeDue: JobWatch['makeDue'] = async () => {
    await env.sql(`update ${table} set run_at = now() where type = $1 and state = 'queued' and sent_at is null`, [
      type,
    ]);
  };

  return {
    list,
    latest,
    waitForState: (id, state = 'succeeded', timeoutMs) =>
      waitForJob(id, `to be ${state}`, (job) => job.state === state, timeoutMs),
    waitForError: async (id, error) => {
      const fits = (text: string | null): boolean =>
        text !== null && (error === undefined || (typeof error === 'string' ? text === error : error.test(text)));
      return (
        (await waitForJob(id, `to fail${error === undefined ? '' : ` with ${error}`}`, (job) => fits(job.error)))
          .error ?? ''
      );
    },
    waitForPhase: (id, phase) => waitForJob(id, `to be ${phase}`, (job) => job.phase === phase, reachTimeoutMs),
    makeDue,
    requeue: async (id) => {
      await env.sql(
        `update ${table} set state = 'queued', finished_at = null, run_at = now(), sent_at = null, generation = generation + 1, result = null
         where type = $1 and payload->>'conversation_id' = $2`,
        [type, String(id)],
      );
    },
    expireLeases: async () => {
      await env.sql(
        `update ${table} set lease_until = now() - interval '1 second' where type = $1 and state = 'running'`,
        [type],
      );
    },
    requeueAfterCrash: async (id) => {
      await waitForJob(
        id,
        'to be queued again',
        ({ state, error }) => state === 'succeeded' || /its lease expired/.test(error ?? ''),
      );
      await makeDue();
    },
  };
}
