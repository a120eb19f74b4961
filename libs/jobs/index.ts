/**
 * Jobs and events of a service (architecture#jobs): the row in PostgreSQL is the truth, JetStream carries it.
 *
 * Terms: a job is *enqueued* in the transaction that causes it; the *relay* hands its message to the broker; a worker
 * *claims* the job and holds its *lease*, a number that fences off everybody who held it before; an *attempt* ends the
 * job as `succeeded` or `dead`, or queues it again with *backoff*; the *sweeper* repairs what was lost between two
 * steps; an operator *redrives* dead jobs.
 */
export { jobAdminHandlers } from './admin.ts';
export { LeaseLost, PermanentJobError, RetryLater } from './errors.ts';
export { createJobs } from './jobs.ts';
export { redactStoredErrors, failedJobs, sentRemoteJobs, jobAttempts, jobTables } from './tables.ts';
export { rebuildQueue } from './rebuild-queue.ts';
export type { DeadJob, JobHandler, JobRun, Jobs, JobTuning, OnDead } from './types.ts';
