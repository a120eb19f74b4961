/** The jobs of one kind as their table has them: what a test waits for, and how it does not wait for backoffs and leases. */
import type { JsonObject } from '#libs/json';
import type { JobTuning } from '#libs/jobs';
import type { TestEnvironment } from './environment.ts';
import { waitFor } from './wait-for.ts';

/** Times of the job machinery for services that tests start, kill and start again. */
export const quickJobs: Partial<JobTuning> = Object.freeze({
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

/** Everything is asked by the conversation that the job is about; the latest job counts where there are several. */
export interface JobWatch {
  /** Oldest first. */
  list(conversationId: number): Promise<StoredJob[]>;
  latest(conversationId: number): Promise<StoredJob | undefined>;
  /** The job at its end. */
  ends(conversationId: number, state?: 'succeeded' | 'dead', timeoutMs?: number): Promise<StoredJob>;
  /** The error of an attempt that failed: the first one, or one that fits. */
  fails(conversationId: number, error?: string | RegExp): Promise<string>;
  /** The job in a phase of its work. */
  reaches(conversationId: number, phase: string): Promise<StoredJob>;
  /** Makes jobs that wait for their next attempt due at once. */
  hurry(): Promise<void>;
  /** Puts jobs that are over back to the start. */
  rerun(conversationId: number): Promise<void>;
  /** Ends the leases of workers that are gone, as time does. */
  endLeases(): Promise<void>;
  /** Makes the job of a killed worker due as soon as the sweeper of a running service has queued it again. */
  resume(conversationId: number): Promise<void>;
}

const endTimeoutMs = 60_000;
/** A process that works the job may have to start first. */
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

  const waitForJob = (id: number, what: string, fits: (job: StoredJob) => boolean, timeoutMs = endTimeoutMs): Promise<StoredJob> =>
    waitFor(
      async () => {
        const job = await latest(id);
        if (job === undefined || !fits(job)) throw new Error(JSON.stringify(job));
        return job;
      },
      { timeoutMs, what: `${type} of conversation ${id} ${what}` },
    );

  const hurry: JobWatch['hurry'] = async () => {
    await env.sql(`update ${table} set run_at = now() where type = $1 and state = 'queued' and sent_at is null`, [type]);
  };

  return {
    list,
    latest,
    ends: (id, state = 'succeeded', timeoutMs) => waitForJob(id, `to be ${state}`, (job) => job.state === state, timeoutMs),
    fails: async (id, error) => {
      const fits = (text: string | null): boolean =>
        text !== null && (error === undefined || (typeof error === 'string' ? text === error : error.test(text)));
      return (await waitForJob(id, `to fail${error === undefined ? '' : ` with ${error}`}`, (job) => fits(job.error))).error ?? '';
    },
    reaches: (id, phase) => waitForJob(id, `to be ${phase}`, (job) => job.phase === phase, reachTimeoutMs),
    hurry,
    rerun: async (id) => {
      await env.sql(
        `update ${table} set state = 'queued', finished_at = null, run_at = now(), sent_at = null, generation = generation + 1, result = null
         where type = $1 and payload->>'conversation_id' = $2`,
        [type, String(id)],
      );
    },
    endLeases: async () => {
      await env.sql(`update ${table} set lease_until = now() - interval '1 second' where type = $1 and state = 'running'`, [type]);
    },
    resume: async (id) => {
      await waitForJob(id, 'to be queued again', ({ state, error }) => state === 'succeeded' || /its lease expired/.test(error ?? ''));
      await hurry();
    },
  };
}
