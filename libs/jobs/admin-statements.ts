/** SQL of the operators' access to jobs. */
import { type Sql, sql, type SqlPart, statement, t } from '#libs/sql';

const instant = (column: string): Sql => sql`${sql.literal(column)}, iso_utc(${sql.id(column)})`;
const shown = sql`'id', id, 'type', type, 'key', key, 'state', state, 'attempts', attempts, 'percent', percent, 'phase', phase, 'error', error,
  'worker', worker, 'request_id', request_id, ${sql.join(['created_at', 'run_at', 'started_at', 'finished_at'].map(instant), sql`, `)}`;

/** Each null for any; `error` = a part of it. */
const filter = { type: t.text.nullable, key: t.text.nullable, error: t.text.nullable };
const matches = ({ type, key, error }: Record<keyof typeof filter, SqlPart>): Sql =>
  sql`(${type} is null or type = ${type}) and (${key} is null or key = ${key}) and (${error} is null or strpos(error, ${error}) > 0)`;

export const listJobs = statement.one({
  name: 'jobs.admin-list',
  params: { ...filter, state: t.text.nullable, before: t.uuid.nullable, limit: t.integer },
  row: { body: t.text },
  sql: ({ state, before, limit, ...wanted }) => sql`
    select json_build_object('items', coalesce(json_agg(item), '[]'))::text as body from (
      select json_build_object(${shown}) as item from jobs
      where ${matches(wanted)} and (${state} is null or state = ${state}) and (${before} is null or id < ${before}) order by id desc limit ${limit}
    ) page`,
});

export const showJob = statement.maybeOne({
  name: 'jobs.admin-show',
  params: { id: t.uuid },
  row: { body: t.text },
  sql: ({ id }) => sql`
    select json_build_object(${shown}, 'payload', payload, 'result', result, 'traceparent', traceparent)::text as body from jobs where id = ${id}`,
});

/** Jobs that match, after one of them, `limit` at most; `id` = this one alone. */
const choice = { ...filter, id: t.uuid.nullable, after: t.uuid.nullable, limit: t.integer };
type Choice = Record<keyof typeof choice, SqlPart>;

const chosen = (states: Sql, { id, after, limit, ...wanted }: Choice): Sql => sql`chosen as (
    select id from jobs where ${states} and ${matches(wanted)} and (${id} is null or id = ${id})
      and (${after} is null or id > ${after}) order by id limit ${limit} for update skip locked
  )`;

/** What somebody has cancelled is queued again only by its name. */
export const redriveJobs = statement.many({
  name: 'jobs.admin-redrive',
  params: choice,
  row: { id: t.uuid },
  sql: (wanted) => sql`
    with ${chosen(sql`(state = 'dead' or state = 'cancelled' and id = ${wanted.id})`, wanted)}
    update jobs j set state = 'queued', attempts = 0, generation = generation + 1, lease = lease + 1, run_at = now(), sent_at = null,
      alive_since = now(), finished_at = null, percent = 0, phase = null
    from chosen where j.id = chosen.id returning j.id`,
});

/** The error stays: it is why the job was given up. */
export const discardJobs = statement.many({
  name: 'jobs.admin-discard',
  params: choice,
  row: { id: t.uuid },
  sql: (wanted) => sql`
    with ${chosen(sql`state = 'dead'`, wanted)}
    update jobs j set state = 'cancelled', finished_at = now() from chosen where j.id = chosen.id returning j.id`,
});

export const cancelJob = statement.many({
  name: 'jobs.admin-cancel',
  params: { id: t.uuid },
  row: { id: t.uuid },
  sql: ({ id }) => sql`
    update jobs set state = 'cancelled', lease = lease + 1, lease_until = null, finished_at = now(), sent_at = null
    where id = ${id} and state in ('queued', 'running') returning id`,
});
