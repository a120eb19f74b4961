/** Statements of the operators' access to jobs (P2, P3). */
import { type Sql, sql, type SqlPart, statement, t } from '#libs/infrastructure/sql';
import { recordAttempts } from './statements.ts';
import type { JobState } from './types.ts';

const instant = (column: string): Sql => sql`${sql.literal(column)}, iso_utc(${sql.id(column)})`;
/**
 * Creation time of a job, taken from its id. Lists are ordered by id too, so id order equals the order of
 * \`created_at\` (D98).
 */
const createdAt = sql`iso_utc(case when substr(id::text, 15, 1) = '7'
  then to_timestamp(('x' || translate(left(id::text, 13), '-', ''))::bit(48)::bigint / 1000.0) else created_at end)`;
const facts = sql`'id', id, 'type', type, 'key', key, 'state', state, 'percent', percent, 'phase', phase, 'error', error,
  'worker', worker, 'conversation_id', case when jsonb_typeof(payload -> 'conversation_id') = 'number' then payload -> 'conversation_id' end,
  'request_id', request_id, 'created_at', ${createdAt}, ${sql.join(['run_at', 'started_at', 'finished_at'].map(instant), sql`, `)}`;
const item = sql`json_build_object(${facts}, 'attempts', attempts)`;

/**
 * Filter for jobs. Null matches any value; `error` is a LIKE pattern. `from` and `to` are ids, which contain the
 * creation time.
 */
const filter = {
  state: t.text.nullable,
  type: t.text.nullable,
  key: t.text.nullable,
  error: t.text.nullable,
  conversationId: t.text.nullable,
  requestId: t.text.nullable,
  from: t.uuid.nullable,
  to: t.uuid.nullable,
};
type Filter = Record<keyof typeof filter, SqlPart>;

const is = (column: Sql, value: SqlPart): Sql => sql`(${value} is null or ${column} = ${value})`;
/** Returns the conditions of a filter other than state and type. */
const matchesRest = ({ key, error, conversationId, requestId, from, to }: Omit<Filter, 'state' | 'type'>): Sql =>
  sql`${is(sql`j.key`, key)} and (${error} is null or j.error like ${error}) and ${is(sql`j.request_id`, requestId)}
    and (${conversationId} is null or (j.payload ? 'conversation_id' and j.payload ->> 'conversation_id' = ${conversationId}))
    and (${from} is null or j.id >= ${from}) and (${to} is null or j.id < ${to})`;
const matches = ({ state, type, ...rest }: Filter): Sql =>
  sql`${is(sql`j.state`, state)} and ${is(sql`j.type`, type)} and ${matchesRest(rest)}`;

const page = { before: t.uuid.nullable, inclusive: t.boolean, limit: t.integer };
/**
 * Returns the condition for jobs after the previous page. The statements are planned for each call, so the planner
 * removes the conditions on null parameters and can use an index.
 */
const isAfter = ({ before, inclusive }: Record<keyof typeof page, SqlPart>): Sql =>
  sql`(${before} is null or j.id <= ${before}) and (${before} is null or ${inclusive} or j.id <> ${before})`;

/**
 * Query for every existing pair of state and type. It needs one index step per pair, independent of the number of jobs.
 */
const kinds = sql`kinds as (
    (select state, type from jobs order by state, type limit 1)
    union all
    select next.state, next.type from kinds k cross join lateral (
      select state, type from jobs where (state, type) > (k.state, k.type) order by state, type limit 1) next
  )`;

/** Lists jobs of a state or type: merges the newest jobs of each pair of state and type. */
export const listJobs = statement.one({
  name: 'jobs.admin-list',
  planned: 'each-call',
  params: { ...filter, ...page },
  row: { body: t.text },
  sql: ({ before, inclusive, limit, state, type, ...rest }) => sql`
    with recursive ${kinds}, newest as (
      select found.id from kinds k cross join lateral (
        select j.id from jobs j
        where j.state = k.state and j.type = k.type and ${matchesRest(rest)} and ${isAfter({ before, inclusive, limit })}
        order by j.id desc limit ${limit}) found
      where ${is(sql`k.state`, state)} and ${is(sql`k.type`, type)} order by found.id desc limit ${limit}
    )
    select json_build_object('items', coalesce(json_agg(${item} order by id desc), '[]'))::text as body from jobs where id in (select id from newest)`,
});

/**
 * Lists jobs of any state and type, ordered by time or filtered by a rare value: a key, a request, a conversation or an
 * error.
 */
export const findJobs = statement.one({
  name: 'jobs.admin-find',
  planned: 'each-call',
  params: { ...filter, ...page },
  row: { body: t.text },
  sql: ({ before, inclusive, limit, ...requested }) => sql`
    select json_build_object('items', coalesce(json_agg(item), '[]'))::text as body from (
      select ${item} as item from jobs j where ${matches(requested)} and ${isAfter({ before, inclusive, limit })} order by j.id desc limit ${limit}
    ) page`,
});

/** Counts jobs by type and state (P1). */
export const countKinds = statement.many({
  name: 'jobs.admin-count-kinds',
  row: { type: t.text, state: t.text.as<JobState>(), count: t.bigint, oldest_at: t.text.nullable },
  sql: () => sql`
    with recursive ${kinds}
    select k.type, k.state, (select count(*) from jobs j where j.state = k.state and j.type = k.type) as count,
      (select ${createdAt} from jobs j where j.state = k.state and j.type = k.type order by j.id limit 1) as oldest_at
    from kinds k order by k.type, k.state`,
});

/** The newest thousand attempts: the unsuccessful ones, and the running or successful one. */
const attempts = sql`(
    select coalesce(json_agg(json_build_object('started_at', iso_utc(started_at), 'duration_ms', duration_ms, 'worker', worker, 'error', error)
      order by number), '[]')
    from (
      select number, started_at, duration_ms, worker, error from job_attempts where job_id = j.id
      union all
      select 9223372036854775807, j.started_at, round(extract(epoch from j.finished_at - j.started_at) * 1000)::bigint, j.worker, null
      where j.state in ('running', 'succeeded') and j.started_at is not null
      order by number desc limit 1000
    ) newest)`;

/** Returns one job. `payload` and `result` are separate columns because they must be redacted. */
export const findJob = statement.maybeOne({
  name: 'jobs.admin-show',
  params: { id: t.uuid },
  row: { facts: t.text, payload: t.json, result: t.json.nullable },
  sql: ({ id }) => sql`
    select json_build_object(${facts}, 'attempts', ${attempts}, 'traceparent', traceparent)::text as facts, payload, result from jobs j where id = ${id}`,
});

/** Returns the current state of jobs as JSON, newest first. */
export const readJobs = statement.one({
  name: 'jobs.admin-show-some',
  params: { ids: t.uuid.array },
  row: { items: t.text },
  sql: ({ ids }) =>
    sql`select coalesce(json_agg(${item} order by id desc), '[]')::text as items from jobs where id = any(${ids})`,
});

/** Returns the newest job of a type for each conversation (P5). */
export const findLatest = statement.many({
  name: 'jobs.admin-latest',
  params: { type: t.text, conversationIds: t.integer.array },
  row: {
    id: t.uuid,
    type: t.text,
    conversation_id: t.integer,
    state: t.text.as<JobState>(),
    attempts: t.integer,
    run_at: t.text,
    error: t.text.nullable,
    waits: t.boolean,
    failure: t.text.nullable,
  },
  sql: ({ type, conversationIds }) => sql`
    select j.id, j.type, c.id as conversation_id, j.state, j.attempts, iso_utc(j.run_at) as run_at, j.error,
      coalesce((select a.waits from job_attempts a where a.job_id = j.id order by a.number desc limit 1), false) as waits,
      coalesce(
        (select a.error from job_attempts a where a.job_id = j.id and not a.waits and a.error is not null order by a.number desc limit 1),
        case when not exists (select from job_attempts a where a.job_id = j.id) then j.error end) as failure
    from unnest(${conversationIds}) as c (id) cross join lateral (
      select * from jobs j where j.payload ? 'conversation_id' and j.payload ->> 'conversation_id' = c.id::text and j.type = ${type}
      order by j.id desc limit 1) j`,
});

/** Makes a waiting job due now. Returns the state of the job, whether it was waiting or not. */
export const runJobNow = statement.maybeOne({
  name: 'jobs.admin-hurry',
  params: { id: t.uuid },
  row: { state: t.text.as<JobState>(), hurried: t.boolean },
  sql: ({ id }) => sql`
    with hurried as (
      update jobs set run_at = now() where id = ${id} and state = 'queued' and sent_at is null and run_at > now() returning id
    )
    select state, exists (select from hurried) as hurried from jobs where id = ${id}`,
});

/** Parameters that select the jobs of a change: allowed states, the filter, and optionally ids. */
const choice = { ...filter, states: t.text.array, ids: t.uuid.array.nullable };
type Choice = Record<keyof typeof choice, SqlPart>;
const isChosen = ({ states, ids, ...requested }: Choice): Sql =>
  sql`j.state = any(${states}) and (${ids} is null or j.id = any(${ids})) and ${matches(requested)}`;

/** Returns how many jobs a change would affect, the newest of these jobs, and how many of `ids` exist. */
export const countMatching = statement.one({
  name: 'jobs.admin-count',
  planned: 'each-call',
  params: { ...choice, limit: t.integer },
  row: { matched: t.integer, known: t.integer, first: t.uuid.array },
  sql: ({ limit, ...requested }) => sql`
    select (select count(*)::integer from jobs j where ${isChosen(requested)}) as matched,
      (select count(*)::integer from jobs where id = any(${requested.ids})) as known,
      array(select j.id from jobs j where ${isChosen(requested)} order by j.id desc limit ${limit}) as first`,
});

/**
 * Runs operators' changes to the jobs of a service one after the other, so that the second of two equal changes has no
 * effect.
 */
export const lockJobChanges = statement.none({
  name: 'jobs.admin-turn',
  sql: () => sql`select pg_advisory_xact_lock(hashtextextended(current_schema() || '.jobs.operators', 0))`,
});

const batch = { ...choice, after: t.uuid.nullable, limit: t.integer };
/** Selects and locks a batch of jobs. Skips jobs whose attempt is ending at the same time. */
const taken = ({ after, limit, ...requested }: Record<keyof typeof batch, SqlPart>): Sql => sql`taken as (
    select j.id, j.state, j.started_at, j.worker from jobs j where ${isChosen(requested)} and (${after} is null or j.id > ${after})
    order by j.id limit ${limit} for update skip locked
  )`;

export const redriveJobs = statement.many({
  name: 'jobs.admin-redrive',
  planned: 'each-call',
  params: batch,
  row: { id: t.uuid },
  sql: (filter) => sql`
    with ${taken(filter)}
    update jobs j set state = 'queued', attempts = 0, generation = generation + 1, lease = lease + 1, run_at = now(), sent_at = null,
      alive_since = now(), finished_at = null, percent = 0, phase = null
    from taken where j.id = taken.id returning j.id`,
});

/** Cancels jobs. The error is preserved, because it is the reason why a dead job was discarded. */
export const cancelJobs = statement.many({
  name: 'jobs.admin-cancel',
  planned: 'each-call',
  params: batch,
  row: { id: t.uuid },
  sql: (filter) => sql`
    with ${taken(filter)}, noted as (${recordAttempts(sql`taken where state = 'running'`, sql`'An operator cancelled the job'`, sql`false`)})
    update jobs j set state = 'cancelled', lease = lease + 1, lease_until = null, finished_at = now(), sent_at = null
    from taken where j.id = taken.id returning j.id`,
});

/** Dead jobs of a conversation, for its timeline (W9). */
export const listDeadOf = statement.many({
  name: 'jobs.dead-of-conversation',
  params: { conversationId: t.text, limit: t.integer },
  row: { id: t.uuid, type: t.text, attempts: t.integer, at: t.text },
  sql: ({ conversationId, limit }) => sql`
    select j.id, j.type, j.attempts, iso_utc(j.finished_at) as at from jobs j
    where j.payload ? 'conversation_id' and j.payload ->> 'conversation_id' = ${conversationId} and j.state = 'dead'
    order by j.id desc limit ${limit}`,
});
