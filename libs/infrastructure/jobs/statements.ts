/**
 * Every SQL statement of the job library except those of the operators. Times are milliseconds of the database's clock.
 */
import { type Parameter, type RowOf, type Sql, sql, type SqlPart, statement, t } from '#libs/infrastructure/sql';
import type { JobState } from './types.ts';

const after = (milliseconds: SqlPart): Sql => sql`now() + ${milliseconds} * interval '1 millisecond'`;

/** Columns with the origin of a job or event. */
const origin = { request_id: t.text.nullable, traceparent: t.text.nullable };

/** Columns of new jobs. */
const newJobs = {
  ids: t.uuid.array,
  types: t.text.array,
  payloads: t.text.array,
  delays: t.double.array,
  requestIds: t.text.arrayWithNulls,
  traceparents: t.text.arrayWithNulls,
};

/** Columns of a claimed job that the worker needs. */
const claimedRow = {
  id: t.uuid,
  type: t.text,
  payload: t.json,
  attempts: t.integer,
  generation: t.integer,
  lease: t.integer,
  ...origin,
};
export type ClaimedRow = RowOf<typeof claimedRow>;

/** Inserts jobs. `sent` is true for jobs that this process publishes immediately. */
export const insertJobs = statement.none({
  name: 'jobs.insert',
  params: { ...newJobs, sent: t.boolean.array },
  sql: ({ ids, types, payloads, delays, sent, requestIds, traceparents }) => sql`
    insert into jobs (id, type, payload, run_at, sent_at, request_id, traceparent)
    select i.id, i.type, i.payload::jsonb, ${after(sql`i.delay`)}, case when i.sent then now() end, i.request_id, i.traceparent
    from unnest(${ids}, ${types}, ${payloads}, ${delays}, ${sent}, ${requestIds}, ${traceparents})
      as i (id, type, payload, delay, sent, request_id, traceparent)`,
});

/**
 * Finds the waiting job with the key, or inserts one. Returns no row when a concurrent transaction inserted it first.
 * `sent` is true when this process publishes the job immediately.
 */
export const insertKeyedJob = statement.maybeOne({
  name: 'jobs.insert-keyed',
  params: {
    id: t.uuid,
    type: t.text,
    payload: t.json,
    delay: t.double,
    sent: t.boolean,
    key: t.text,
    requestId: t.text.nullable,
    traceparent: t.text.nullable,
  },
  row: { id: t.uuid, added: t.boolean, unsent: t.boolean },
  sql: ({ id, type, payload, delay, sent, key, requestId, traceparent }) => sql`
    with waiting as (
      update jobs set run_at = least(run_at, ${after(delay)})
      where type = ${type} and key = ${key} and state = 'queued' returning id, sent_at
    ), added as (
      insert into jobs (id, type, payload, run_at, sent_at, request_id, traceparent, key)
      select ${id}, ${type}, ${payload}, ${after(delay)}, case when ${sent} then now() end, ${requestId}, ${traceparent}, ${key}
      where not exists (select from waiting)
      on conflict (type, key) where key is not null and state = 'queued' and generation = 0 do nothing
      returning id
    )
    select id, false as added, sent_at is null as unsent from waiting
    union all select id, true, false from added limit 1`,
});

/**
 * Inserts outbox rows. `take` is the time that this process has to publish them; with 0 the relay publishes them. The
 * column `behind` is true when older events are unpublished.
 */
export const insertOutbox = statement.many({
  name: 'jobs.outbox-insert',
  params: {
    messageIds: t.uuid.array,
    kinds: t.text.array,
    subjects: t.text.array,
    bodies: t.text.array,
    requestIds: t.text.arrayWithNulls,
    traceparents: t.text.arrayWithNulls,
    take: t.double,
  },
  row: { id: t.bigint, message_id: t.uuid, behind: t.boolean },
  sql: ({ messageIds, kinds, subjects, bodies, requestIds, traceparents, take }) => sql`
    insert into outbox (message_id, kind, subject, body, request_id, traceparent, send_after, backlog)
    select i.message_id, i.kind, i.subject, i.body, i.request_id, i.traceparent, ${after(take)}, ${take} = 0
    from unnest(${messageIds}, ${kinds}, ${subjects}, ${bodies}, ${requestIds}, ${traceparents})
      with ordinality as i (message_id, kind, subject, body, request_id, traceparent, place)
    order by i.place
    returning id, message_id,
      kind = 'event' and (select exists (select from outbox where kind = 'event' and (backlog or send_after <= now()))) as behind`,
});

const outboxRow = {
  id: t.bigint,
  message_id: t.uuid,
  kind: t.text.as<'job' | 'event'>(),
  subject: t.text,
  body: t.text,
  ...origin,
};
export type OutboxRow = RowOf<typeof outboxRow>;

/**
 * Claims outbox rows for publication; `take` is the time that this process has for it. Jobs are claimed in any order.
 * To preserve their order, events are claimed by one process at a time (`lock`), and only while no older event is being
 * published.
 */
export const claimOutbox = statement.many({
  name: 'jobs.outbox-take',
  params: { limit: t.integer, take: t.double, lock: t.text },
  row: outboxRow,
  sql: ({ limit, take, lock }) => sql`
    with turn as materialized (select pg_try_advisory_xact_lock(hashtextextended(current_schema() || ${lock}, 0)) as mine),
    due as (
      select o.id from outbox o
      where o.send_after <= now() and (o.kind = 'job' or (
        (select mine from turn) and not exists (select from outbox older where older.kind = 'event' and older.id < o.id and older.send_after > now())))
      order by o.id limit ${limit} for update of o skip locked
    )
    update outbox o set send_after = ${after(take)}, backlog = true from due where o.id = due.id
    returning o.id, o.message_id, o.kind, o.subject, o.body, o.request_id, o.traceparent`,
});

/**
 * Deletes published rows. Jobs for other services are recorded for a while, because only the broker has them until
 * their first delivery.
 */
export const deleteOutbox = statement.none({
  name: 'jobs.outbox-delete',
  params: { ids: t.bigint.array },
  sql: ({ ids }) => sql`
    with stored as (delete from outbox where id = any(${ids}) returning kind, message_id, subject, body, request_id, traceparent)
    insert into handed_over (message_id, subject, body, request_id, traceparent)
    select message_id, subject, body, request_id, traceparent from stored where kind = 'job'
    on conflict do nothing`,
});

export const deleteSentRemoteJobs = statement.one({
  name: 'jobs.delete-handed-over',
  params: { age: t.double, limit: t.integer },
  row: { count: t.integer },
  sql: ({ age, limit }) => sql`
    with removed as (
      delete from handed_over where message_id = any(array(
        select message_id from handed_over where handed_at < now() - ${age} * interval '1 millisecond'
        order by handed_at limit ${limit} for update skip locked))
      returning 1)
    select count(*)::integer as count from removed`,
});

/** Releases rows that could not be published, so that they are due immediately. */
export const releaseOutbox = statement.none({
  name: 'jobs.outbox-release',
  params: { ids: t.bigint.array },
  sql: ({ ids }) => sql`update outbox set send_after = now(), backlog = true where id = any(${ids})`,
});

const dueRow = { id: t.uuid, type: t.text, generation: t.integer, ...origin };
export type DueRow = RowOf<typeof dueRow>;

/** Claims due jobs that have not been published. */
export const claimDueJobs = statement.many({
  name: 'jobs.take-due',
  params: { limit: t.integer },
  row: dueRow,
  sql: ({ limit }) => sql`
    with due as (
      select id from jobs where state = 'queued' and sent_at is null and run_at <= now() order by run_at limit ${limit} for update skip locked
    )
    update jobs j set sent_at = now() from due where j.id = due.id
    returning j.id, j.type, j.generation, j.request_id, j.traceparent`,
});

/** Makes waiting jobs whose payload contains `payload` due now. */
export const wakeJobs = statement.many({
  name: 'jobs.wake',
  params: { type: t.text, payload: t.json },
  row: { id: t.uuid },
  sql: ({ type, payload }) => sql`
    with waiting as (
      select id from jobs where state = 'queued' and type = ${type} and payload @> ${payload} and sent_at is null and run_at > now()
      order by id for update skip locked
    )
    update jobs j set run_at = now() from waiting where j.id = waiting.id returning j.id`,
});

/** Marks jobs as unpublished that the broker did not accept. */
export const markUnsent = statement.none({
  name: 'jobs.unsend',
  params: { ids: t.uuid.array, generations: t.integer.array },
  sql: ({ ids, generations }) => sql`
    update jobs j set sent_at = null from unnest(${ids}, ${generations}) as i (id, generation)
    where j.id = i.id and j.generation = i.generation and j.state = 'queued'`,
});

/**
 * Inserts jobs from another service on first delivery. `delays` are the remaining delays, `askedAt` the creation times
 * in the job ids.
 */
export const acceptJobs = statement.none({
  name: 'jobs.accept',
  params: { ...newJobs, keys: t.text.arrayWithNulls, askedAt: t.double.array },
  sql: ({ ids, types, keys, payloads, delays, requestIds, traceparents, askedAt }) => sql`
    insert into jobs (id, type, key, payload, run_at, sent_at, request_id, traceparent, created_at)
    select i.id, i.type, i.key, i.payload::jsonb, ${after(sql`i.delay`)}, case when i.delay <= 0 then now() end, i.request_id, i.traceparent,
      least(now(), to_timestamp(i.asked_at / 1000))
    from unnest(${ids}, ${types}, ${keys}, ${payloads}, ${delays}, ${requestIds}, ${traceparents}, ${askedAt})
      as i (id, type, key, payload, delay, request_id, traceparent, asked_at)
    where i.key is null or not exists (select from jobs w where w.type = i.type and w.key = i.key and w.state = 'queued')
    on conflict do nothing`,
});

/** Claims queued jobs that are due. Skips locked rows, so that a claim never waits. */
export const claimJobs = statement.many({
  name: 'jobs.claim',
  params: { ids: t.uuid.array, lease: t.double, worker: t.text },
  row: claimedRow,
  sql: ({ ids, lease, worker }) => sql`
    with free as (select id from jobs where id = any(${ids}) and state = 'queued' and run_at <= now() for update skip locked)
    update jobs j set state = 'running', attempts = attempts + 1, lease = lease + 1, lease_until = ${after(lease)},
      worker = ${worker}, started_at = now(), percent = 0, phase = null
    from free where j.id = free.id
    returning j.id, j.type, j.payload, j.attempts, j.generation, j.lease, j.request_id, j.traceparent`,
});

/**
 * Returns why a job could not be claimed. `wait_ms` is the time until a queued job is due or the lease of a running one
 * expires; it is negative when that time is in the past.
 */
export const readStatus = statement.maybeOne({
  name: 'jobs.status',
  params: { id: t.uuid },
  row: { id: t.uuid, state: t.text.as<JobState>(), wait_ms: t.double },
  sql: ({ id }) => sql`
    select id, state, (extract(epoch from coalesce(lease_until, run_at) - now()) * 1000)::float8 as wait_ms from jobs where id = ${id}`,
});

export const succeedJobs = statement.many({
  name: 'jobs.succeed',
  params: { ids: t.uuid.array, leases: t.integer.array, results: t.text.arrayWithNulls },
  row: { id: t.uuid },
  sql: ({ ids, leases, results }) => sql`
    update jobs j set state = 'succeeded', finished_at = now(), lease_until = null, percent = 100, error = null, result = i.result::jsonb
    from unnest(${ids}, ${leases}, ${results}) as i (id, lease, result)
    where j.id = i.id and j.lease = i.lease and j.state = 'running' returning j.id`,
});

export const storeResult = statement.none({
  name: 'jobs.keep-result',
  params: { id: t.uuid, result: t.json },
  sql: ({ id, result }) => sql`update jobs set result = ${result} where id = ${id}`,
});

/** Records the attempts of rows with `id`, `started_at` and `worker` that have just ended unsuccessfully (P2). */
export const recordAttempts = (rows: Sql, error: Sql | Parameter, waits: Sql | Parameter): Sql => sql`
  insert into job_attempts (job_id, started_at, duration_ms, worker, error, waits)
  select id, coalesce(started_at, now()), coalesce(greatest(0, extract(epoch from clock_timestamp() - started_at) * 1000), 0), worker, ${error}, ${waits}
  from ${rows}`;

/**
 * Ends an attempt unsuccessfully. Returns no row when the lease is lost. With `counts` false the attempt is subtracted
 * from `attempts`. A job older than `maxAge` becomes dead.
 */
export const endAttempt = statement.maybeOne({
  name: 'jobs.end-attempt',
  params: {
    id: t.uuid,
    lease: t.integer,
    dead: t.boolean,
    delay: t.double,
    error: t.text.nullable,
    counts: t.boolean,
    waits: t.boolean,
    maxAge: t.double.nullable,
  },
  row: { state: t.text.as<'queued' | 'dead'>(), error: t.text.nullable, attempts: t.integer, lease: t.integer },
  sql: ({ id, lease, dead, delay, error, counts, waits, maxAge }) => sql`
    with held as (
      select id, started_at, worker, case when ${dead} or alive_since + ${maxAge} * interval '1 millisecond' <= now() then 'dead' else 'queued' end as next
      from jobs where id = ${id} and lease = ${lease} and state = 'running' for update
    ), noted as (${recordAttempts(sql`held`, error, waits)})
    update jobs j set state = h.next, lease = lease + 1, lease_until = null, error = coalesce(${error}, j.error),
      attempts = attempts - case when ${counts} then 0 else 1 end,
      generation = generation + case h.next when 'queued' then 1 else 0 end,
      run_at = case h.next when 'queued' then ${after(delay)} else run_at end, sent_at = null,
      finished_at = case h.next when 'dead' then now() end
    from held h where j.id = h.id
    returning j.state, j.error, j.attempts, j.lease`,
});

/** Renews the leases that this worker still holds. Returns the ids of their jobs. */
export const renewLeases = statement.many({
  name: 'jobs.renew',
  params: { ids: t.uuid.array, leases: t.integer.array, duration: t.double },
  row: { id: t.uuid },
  sql: ({ ids, leases, duration }) => sql`
    with held as (
      select j.id from jobs j join unnest(${ids}, ${leases}) as i (id, lease) on j.id = i.id and j.lease = i.lease
      where j.state = 'running' order by j.id for update of j
    )
    update jobs j set lease_until = ${after(duration)} from held where j.id = held.id returning j.id`,
});

export const writeProgress = statement.none({
  name: 'jobs.progress',
  params: { id: t.uuid, lease: t.integer, percent: t.integer, phase: t.text.nullable, duration: t.double },
  sql: ({ id, lease, percent, phase, duration }) => sql`
    update jobs set percent = ${percent}, phase = coalesce(${phase}, phase), lease_until = ${after(duration)}
    where id = ${id} and lease = ${lease} and state = 'running'`,
});

/**
 * Ends expired leases of jobs of these types, optionally only of the jobs in `ids`. Each job is queued again or becomes
 * dead.
 */
export const expireLeases = statement.many({
  name: 'jobs.expire',
  params: {
    types: t.text.array,
    maxAttempts: t.integer.array,
    firstDelays: t.double.array,
    longestDelays: t.double.array,
    ids: t.uuid.array.nullable,
    error: t.text,
  },
  row: {
    id: t.uuid,
    type: t.text,
    state: t.text,
    payload: t.json,
    request_id: t.text.nullable,
    attempts: t.integer,
    lease: t.integer,
  },
  sql: ({ types, maxAttempts, firstDelays, longestDelays, ids, error }) => sql`
    with lost as (
      select j.id, j.started_at, j.worker, j.attempts >= p.most as over, least(p.longest, p.first * power(2, least(j.attempts - 1, 30))) as delay
      from jobs j join unnest(${types}, ${maxAttempts}, ${firstDelays}, ${longestDelays}) as p (type, most, first, longest) on p.type = j.type
      where j.state = 'running' and j.lease_until < now() and (${ids} is null or j.id = any(${ids}))
      order by j.id limit 500 for update of j skip locked
    ), noted as (${recordAttempts(sql`lost`, error, sql`false`)})
    update jobs j set state = case when l.over then 'dead' else 'queued' end, lease = lease + 1, lease_until = null, error = ${error},
      generation = generation + case when l.over then 0 else 1 end,
      run_at = case when l.over then run_at else ${after(sql`l.delay`)} end, sent_at = null,
      finished_at = case when l.over then now() end
    from lost l where j.id = l.id
    returning j.id, j.type, j.state, j.payload, j.request_id, j.attempts, j.lease`,
});

/** Returns the types with jobs that were published at least `age` milliseconds ago and have not started. */
export const findOverdueTypes = statement.many({
  name: 'jobs.overdue-types',
  params: { age: t.double },
  row: { type: t.text, age_ms: t.double },
  sql: ({ age }) => sql`
    select type, (extract(epoch from now() - min(sent_at)) * 1000)::float8 as age_ms from jobs
    where state = 'queued' and sent_at < now() - ${age} * interval '1 millisecond' group by type`,
});

/** Queues overdue jobs to be published again under a new message id. */
export const requeueOverdue = statement.many({
  name: 'jobs.requeue-overdue',
  params: { type: t.text, age: t.double },
  row: { id: t.uuid },
  sql: ({ type, age }) => sql`
    with lost as (
      select id from jobs where state = 'queued' and type = ${type} and sent_at < now() - ${age} * interval '1 millisecond'
      order by id limit 500 for update skip locked
    )
    update jobs j set generation = generation + 1, sent_at = null from lost where j.id = lost.id returning j.id`,
});

/**
 * Deletes expired succeeded and cancelled jobs, up to `limit` after the id `after`. Ids increase with time, so the
 * primary key finds them; the next batch starts at `last`, so that it does not scan deleted rows again.
 */
export const deleteFinished = statement.one({
  name: 'jobs.delete-finished',
  params: { after: t.uuid, oldestKept: t.uuid, age: t.double, limit: t.integer },
  row: { count: t.integer, last: t.uuid.nullable },
  sql: ({ after: begin, oldestKept, age, limit }) => sql`
    with removed as (
      delete from jobs where id = any(array(
        select id from jobs
        where id > ${begin} and id < ${oldestKept} and state in ('succeeded', 'cancelled') and finished_at < now() - ${age} * interval '1 millisecond'
        order by id limit ${limit} for update skip locked))
      returning id)
    select count(*)::integer as count, (select id from removed order by id desc limit 1) as last from removed`,
});

const countRow = { type: t.text, pending: t.bigint, running: t.bigint, dead: t.bigint, oldest_seconds: t.double };
export type CountRow = RowOf<typeof countRow>;

/** Returns queue lengths for the metrics. */
export const countJobs = statement.many({
  name: 'jobs.count',
  row: countRow,
  sql: () => sql`
    select type,
      count(*) filter (where state = 'queued') as pending,
      count(*) filter (where state = 'running') as running,
      count(*) filter (where state = 'dead') as dead,
      coalesce(extract(epoch from now() - min(run_at) filter (where state = 'queued' and run_at <= now())), 0)::float8 as oldest_seconds
    from jobs where state in ('queued', 'running', 'dead') group by type`,
});

/** Returns the age of the oldest outbox row in seconds. */
export const readOutboxAge = statement.one({
  name: 'jobs.outbox-age',
  row: { seconds: t.double, rows: t.bigint },
  sql: () => sql`
    select coalesce(extract(epoch from now() - min(created_at)), 0)::float8 as seconds, count(*) as rows from outbox`,
});
