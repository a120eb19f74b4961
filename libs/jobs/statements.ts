/** Every SQL statement of the job library but those of the admin. Times are milliseconds; the database's clock is the only one. */
import { statement } from '#libs/orm';
import type { JobState } from './types.ts';

const after = (param: string): string => `now() + ${param} * interval '1 millisecond'`;

/** Columns a claimed job is handed on with. */
export interface ClaimedRow {
  readonly id: string;
  readonly type: string;
  readonly payload: string;
  readonly attempts: number;
  readonly generation: number;
  readonly lease: number;
  readonly request_id: string | null;
  readonly traceparent: string | null;
}

/** $1 ids, $2 types, $3 payloads, $4 delays, $5 sent by this process at once, $6 request ids, $7 traceparents. */
export const insertJobs = statement(
  'jobs.insert',
  `insert into jobs (id, type, payload, run_at, sent_at, request_id, traceparent)
   select i.id, i.type, i.payload::jsonb, ${after('i.delay')}, case when i.sent then now() end, i.request_id, i.traceparent
   from unnest($1::uuid[], $2::text[], $3::text[], $4::float8[], $5::boolean[], $6::text[], $7::text[])
     as i (id, type, payload, delay, sent, request_id, traceparent)`,
);

/**
 * $1 id, $2 type, $3 payload, $4 delay, $5 sent by this process at once, $6 request id, $7 traceparent, $8 key: finds the job that waits under the key,
 * or adds one; no row when a concurrent transaction was first.
 */
export const insertKeyedJob = statement(
  'jobs.insert-keyed',
  `with waiting as (
     update jobs set run_at = least(run_at, ${after('$4::float8')})
     where type = $2 and key = $8 and state = 'queued' returning id, sent_at
   ), added as (
     insert into jobs (id, type, payload, run_at, sent_at, request_id, traceparent, key)
     select $1, $2, $3::jsonb, ${after('$4::float8')}, case when $5::boolean then now() end, $6, $7, $8
     where not exists (select from waiting)
     on conflict (type, key) where key is not null and state = 'queued' and generation = 0 do nothing
     returning id
   )
   select id, false as added, sent_at is null as unsent from waiting
   union all select id, true, false from added limit 1`,
);

/**
 * $1 message ids, $2 kinds, $3 subjects, $4 bodies, $5 request ids, $6 traceparents, $7 take (0 = leave them to the relay). `behind` = older events
 * still wait.
 */
export const insertOutbox = statement(
  'jobs.outbox-insert',
  `insert into outbox (message_id, kind, subject, body, request_id, traceparent, send_after, backlog)
   select i.message_id, i.kind, i.subject, i.body, i.request_id, i.traceparent, ${after('$7::float8')}, $7::float8 = 0
   from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[])
     with ordinality as i (message_id, kind, subject, body, request_id, traceparent, place)
   order by i.place
   returning id, message_id, kind = 'event' and (select exists (select from outbox where kind = 'event' and (backlog or send_after <= now()))) as behind`,
);

export interface OutboxRow {
  readonly id: number;
  readonly message_id: string;
  readonly kind: 'job' | 'event';
  readonly subject: string;
  readonly body: string;
  readonly request_id: string | null;
  readonly traceparent: string | null;
}

/**
 * $1 limit, $2 take, $3 lock. Jobs are taken as they come; events only by one process at a time and only while no older event is
 * under way, so that they leave in order.
 */
export const takeOutbox = statement(
  'jobs.outbox-take',
  `with turn as materialized (select pg_try_advisory_xact_lock(hashtextextended(current_schema() || $3, 0)) as mine),
   due as (
     select o.id from outbox o
     where o.send_after <= now() and (o.kind = 'job' or (
       (select mine from turn) and not exists (select from outbox older where older.kind = 'event' and older.id < o.id and older.send_after > now())))
     order by o.id limit $1 for update of o skip locked
   )
   update outbox o set send_after = ${after('$2::float8')}, backlog = true from due where o.id = due.id
   returning o.id, o.message_id, o.kind, o.subject, o.body, o.request_id, o.traceparent`,
);

/** $1 ids. */
export const deleteOutbox = statement('jobs.outbox-delete', `delete from outbox where id = any($1::bigint[])`);

/** $1 ids: not sent; due again at once. */
export const releaseOutbox = statement(
  'jobs.outbox-release',
  `update outbox set send_after = now(), backlog = true where id = any($1::bigint[])`,
);

export interface DueRow {
  readonly id: string;
  readonly type: string;
  readonly generation: number;
  readonly request_id: string | null;
  readonly traceparent: string | null;
}

/** $1 limit. Jobs that are due and that nobody has sent. */
export const takeDueJobs = statement(
  'jobs.take-due',
  `with due as (
     select id from jobs where state = 'queued' and sent_at is null and run_at <= now() order by run_at limit $1 for update skip locked
   )
   update jobs j set sent_at = now() from due where j.id = due.id
   returning j.id, j.type, j.generation, j.request_id, j.traceparent`,
);

/** $1 type, $2 what the payload contains: jobs that wait for a later time are due now. */
export const wakeJobs = statement(
  'jobs.wake',
  `with waiting as (
     select id from jobs where state = 'queued' and type = $1 and payload @> $2::jsonb and sent_at is null and run_at > now()
     order by id for update skip locked
   )
   update jobs j set run_at = now() from waiting where j.id = waiting.id returning j.id`,
);

/** $1 ids, $2 generations: the broker did not take them. */
export const unsendJobs = statement(
  'jobs.unsend',
  `update jobs j set sent_at = null from unnest($1::uuid[], $2::integer[]) as i (id, generation)
   where j.id = i.id and j.generation = i.generation and j.state = 'queued'`,
);

/** $1 ids, $2 types, $3 keys, $4 payloads, $5 delays left, $6 request ids, $7 traceparents: first delivery of another service's jobs. */
export const acceptJobs = statement(
  'jobs.accept',
  `insert into jobs (id, type, key, payload, run_at, sent_at, request_id, traceparent)
   select i.id, i.type, i.key, i.payload::jsonb, ${after('i.delay')}, case when i.delay <= 0 then now() end, i.request_id, i.traceparent
   from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::float8[], $6::text[], $7::text[])
     as i (id, type, key, payload, delay, request_id, traceparent)
   where i.key is null or not exists (select from jobs w where w.type = i.type and w.key = i.key and w.state = 'queued')
   on conflict do nothing`,
);

/** $1 ids, $2 lease, $3 worker. A row that somebody else holds locked is left for later: claims never wait. */
export const claimJobs = statement(
  'jobs.claim',
  `with free as (select id from jobs where id = any($1::uuid[]) and state = 'queued' and run_at <= now() for update skip locked)
   update jobs j set state = 'running', attempts = attempts + 1, lease = lease + 1, lease_until = ${after('$2::float8')},
     worker = $3, started_at = now(), percent = 0, phase = null
   from free where j.id = free.id
   returning j.id, j.type, j.payload, j.attempts, j.generation, j.lease, j.request_id, j.traceparent`,
);

export interface StatusRow {
  readonly id: string;
  readonly state: JobState;
  /** Until a queued job is due or a running one's lease ends; negative = over. */
  readonly wait_ms: number;
}

/** $1 ids: why a claim got nothing. */
export const readStatus = statement(
  'jobs.status',
  `select id, state, (extract(epoch from coalesce(lease_until, run_at) - now()) * 1000)::float8 as wait_ms from jobs where id = any($1::uuid[])`,
);

/** $1 ids, $2 leases, $3 results. */
export const succeedJobs = statement(
  'jobs.succeed',
  `update jobs j set state = 'succeeded', finished_at = now(), lease_until = null, percent = 100, error = null, result = i.result::jsonb
   from unnest($1::uuid[], $2::integer[], $3::text[]) as i (id, lease, result)
   where j.id = i.id and j.lease = i.lease and j.state = 'running' returning j.id`,
);

/** $1 result, $2 id. */
export const keepResult = statement('jobs.keep-result', `update jobs set result = $1::jsonb where id = $2`);

/**
 * $1 id, $2 lease, $3 dead, $4 delay, $5 error, $6 counts, $7 age that ends the job or null: ends an attempt without success.
 * `attempts` falls back when the attempt does not count.
 */
export const endAttempt = statement(
  'jobs.end-attempt',
  `with held as (
     select id, case when $3::boolean or alive_since + $7::float8 * interval '1 millisecond' <= now() then 'dead' else 'queued' end as next
     from jobs where id = $1 and lease = $2 and state = 'running' for update
   )
   update jobs j set state = h.next, lease = lease + 1, lease_until = null, error = coalesce($5, j.error),
     attempts = attempts - case when $6::boolean then 0 else 1 end,
     generation = generation + case h.next when 'queued' then 1 else 0 end,
     run_at = case h.next when 'queued' then ${after('$4::float8')} else run_at end, sent_at = null,
     finished_at = case h.next when 'dead' then now() end
   from held h where j.id = h.id
   returning j.state`,
);

/** $1 ids, $2 leases, $3 lease: renews what this worker still holds. */
export const renewLeases = statement(
  'jobs.renew',
  `with held as (
     select j.id from jobs j join unnest($1::uuid[], $2::integer[]) as i (id, lease) on j.id = i.id and j.lease = i.lease
     where j.state = 'running' order by j.id for update of j
   )
   update jobs j set lease_until = ${after('$3::float8')} from held where j.id = held.id returning j.id`,
);

/** $1 id, $2 lease, $3 percent, $4 phase, $5 lease. */
export const writeProgress = statement(
  'jobs.progress',
  `update jobs set percent = $3, phase = coalesce($4, phase), lease_until = ${after('$5::float8')}
   where id = $1 and lease = $2 and state = 'running'`,
);

/** $1 types, $2 most attempts, $3 first delays, $4 longest delays, $5 ids or null, $6 error: leases that ended without a word. */
export const expireLeases = statement(
  'jobs.expire',
  `with lost as (
     select j.id, j.attempts >= p.most as over, least(p.longest, p.first * power(2, least(j.attempts - 1, 30))) as delay
     from jobs j join unnest($1::text[], $2::integer[], $3::float8[], $4::float8[]) as p (type, most, first, longest) on p.type = j.type
     where j.state = 'running' and j.lease_until < now() and ($5::uuid[] is null or j.id = any($5::uuid[]))
     order by j.id limit 500 for update of j skip locked
   )
   update jobs j set state = case when l.over then 'dead' else 'queued' end, lease = lease + 1, lease_until = null, error = $6,
     generation = generation + case when l.over then 0 else 1 end,
     run_at = case when l.over then run_at else ${after('l.delay')} end, sent_at = null,
     finished_at = case when l.over then now() end
   from lost l where j.id = l.id
   returning j.id, j.type, j.state`,
);

/** $1 age: types with jobs that were handed to the broker so long ago and have not begun. */
export const findOverdueTypes = statement(
  'jobs.overdue-types',
  `select type, (extract(epoch from now() - min(sent_at)) * 1000)::float8 as age_ms from jobs
   where state = 'queued' and sent_at < now() - $1::float8 * interval '1 millisecond' group by type`,
);

/** $1 types, $2 age: to be sent again under a new message id. */
export const requeueOverdue = statement(
  'jobs.requeue-overdue',
  `with lost as (
     select id from jobs where state = 'queued' and type = any($1::text[]) and sent_at < now() - $2::float8 * interval '1 millisecond'
     order by id limit 500 for update skip locked
   )
   update jobs j set generation = generation + 1, sent_at = null from lost where j.id = lost.id returning j.id`,
);

/** $1 oldest id kept, $2 age: succeeded and cancelled jobs that nobody will ask for. Ids grow with time, so the key finds them. */
export const deleteFinished = statement(
  'jobs.delete-finished',
  `delete from jobs where id in (
     select id from jobs where id < $1::uuid and state in ('succeeded', 'cancelled') and finished_at < now() - $2::float8 * interval '1 millisecond'
     order by id limit 1000 for update skip locked)
   returning id`,
);

/** Queue lengths for the metrics. */
export const countJobs = statement(
  'jobs.count',
  `select type,
     count(*) filter (where state = 'queued') as pending,
     count(*) filter (where state = 'running') as running,
     count(*) filter (where state = 'dead') as dead,
     coalesce(extract(epoch from now() - min(run_at) filter (where state = 'queued' and run_at <= now())), 0)::float8 as oldest_seconds
   from jobs where state in ('queued', 'running', 'dead') group by type`,
);

/** Age of the oldest outbox row, seconds. */
export const readOutboxAge = statement(
  'jobs.outbox-age',
  `select coalesce(extract(epoch from now() - min(created_at)), 0)::float8 as seconds, count(*) as rows from outbox`,
);
