/**
 * Jobs and events of a service (architecture#jobs). The row in PostgreSQL is the source of truth; JetStream only
 * transports messages.
 *
 * Terms: a job is *enqueued* in the transaction that causes it. The *relay* publishes its message to the broker. A
 * worker *claims* the job and holds its *lease*, a number that invalidates the leases of earlier holders. An *attempt*
 * ends the job as `succeeded` or `dead`, or queues it again with *backoff*. The *sweeper* repairs what was lost between
 * two of these steps. An operator *redrives* dead jobs.
 */
export { jobAdminHandlers, listFailedJobs } from './admin.ts';
export { LeaseLost, PermanentJobError, RetryLater } from './errors.ts';
export { createJobs } from './jobs.ts';
export { redactStoredErrors, failedJobs, sentRemoteJobs, jobAttempts, jobTables } from './tables.ts';
export { rebuildQueue } from './rebuild-queue.ts';
export type { DeadJob, JobHandler, JobRun, Jobs, JobTuning, OnDead } from './types.ts';
