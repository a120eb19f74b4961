/**
 * Jobs and outbox of a database that was put back to an earlier moment (architecture#jobs): what it says is to be done is handed to the broker
 * again, under new message ids; nobody works on what was running then.
 */
import { sql, statement, t } from '#libs/sql';
import type { Database } from '#libs/orm';

/** An attempt that the restore cut off does not count. */
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
 * What the broker had for other services, under message ids that it has not seen within its two minutes; who has received the job knows it by its own id.
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

/** Run it while no process of the service works. @returns how many jobs, and messages for other services, will be sent */
export async function rebuildQueue(db: Database): Promise<{ jobs: number; outbox: number }> {
  return db.transaction(async (tx) => {
    const jobs = (await requeueJobs(tx)).count;
    const outbox = (await releaseOutbox(tx)).count;
    return { jobs, outbox: outbox + (await resendRemoteJobs(tx)).count };
  });
}
