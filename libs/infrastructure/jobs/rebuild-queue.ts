/**
 * Rebuilds the queue of a restored database (architecture#jobs). Pending jobs and outbox rows are published again under
 * new message ids; jobs that were running when the backup started are queued.
 */
import { sql, statement, t } from '#libs/infrastructure/sql';
import type { Database } from '#libs/infrastructure/orm';

/** Queues pending and running jobs again. The attempt that the backup interrupted does not count. */
export const requeueJobs = statement.one({
  name: 'jobs.requeue-restored',
  row: { count: t.bigint },
  sql: () => sql`
    with queued as (
      update jobs set state = 'queued', lease = lease + case state when 'running' then 1 else 0 end, lease_until = null, sent_at = null,
        attempts = attempts - case when state = 'running' and attempts > 0 then 1 else 0 end, generation = generation + 1,
        run_at = case state when 'running' then now() else run_at end
      where state in ('queued', 'running') returning 1
    )
    select count(*) from queued`,
});

/**
 * Publishes jobs for other services again. They get new message ids, because the broker drops known ids for two
 * minutes; the receiver recognizes a job by the job's id.
 */
export const resendRemoteJobs = statement.one({
  name: 'jobs.hand-over-again',
  row: { count: t.bigint },
  sql: () => sql`
    with again as (delete from handed_over returning message_id, handed_at, subject, body, request_id, traceparent),
    sent as (
      insert into outbox (message_id, kind, subject, body, request_id, traceparent)
      select gen_random_uuid(), 'job', subject, body, request_id, traceparent from again order by handed_at, message_id returning 1
    )
    select count(*) from sent`,
});

export const releaseOutbox = statement.one({
  name: 'jobs.release-restored-outbox',
  row: { count: t.bigint },
  sql: () => sql`
    with released as (
      update outbox set send_after = now(), backlog = true, message_id = case kind when 'job' then gen_random_uuid() else message_id end returning 1
    )
    select count(*) from released`,
});

/**
 * Publishes the restored jobs and outbox rows again. Call it only while no process of the service runs. @returns the
 * numbers of jobs and of messages for other services that will be published
 */
export async function rebuildQueue(db: Database): Promise<{ jobs: number; outbox: number }> {
  return db.transaction(async (tx) => {
    const jobs = (await requeueJobs(tx)).count;
    const outbox = (await releaseOutbox(tx)).count;
    return { jobs, outbox: outbox + (await resendRemoteJobs(tx)).count };
  });
}
