/**
 * Statements of those who send (V6, V7). One job at a time holds an endpoint; what it writes, it writes only while it holds it. `news` says that there
 * may be something to do that nobody has begun: whoever sets it sees to it that a job runs, unless one holds the endpoint, which looks before it lets go.
 */
import { type RowOf, type Sql, sql, statement, t } from '#libs/sql';

const holdMs = 30_000;
const heldUntil: Sql = sql`clock_timestamp() + ${sql.literal(`${holdMs} milliseconds`)}::interval`;
const isHeld: Sql = sql`coalesce(e.holder is not null and e.held_until >= clock_timestamp(), false)`;
const isAlive: Sql = sql`e.disabled_at is null and e.deleted_at is null`;

const held = {
  id: t.integer,
  account_id: t.integer,
  url: t.text,
  types: t.text.array.nullable,
  secret: t.bytes,
  previous_secret: t.bytes.nullable,
  position: t.bigint,
  recover_from: t.bigint.nullable,
  recover_to: t.bigint.nullable,
  is_failing: t.boolean,
};
export type HeldEndpoint = RowOf<typeof held>;

const columns: Sql = sql`e.id, e.account_id, e.url, e.types, e.secret,
  case when e.previous_until > clock_timestamp() then e.previous_secret end as previous_secret,
  e.position, e.recover_from, e.recover_to, e.failing_since is not null as is_failing`;

/** The endpoint for this job alone. What was news is its own now. No row: another job holds it, or nothing is to be sent. */
export const holdEndpoint = statement.maybeOne({
  name: 'deliveries.hold',
  params: { id: t.integer, holder: t.uuid },
  row: held,
  sql: ({ id, holder }) => sql`
    update events.webhook_endpoints e set holder = ${holder}, held_until = ${heldUntil}, news = false
    where e.id = ${id} and ${isAlive} and (e.holder = ${holder} or not ${isHeld})
    returning ${columns}`,
});

/** Leaves word with the job that holds the endpoint. No row: none holds it. */
export const tellHolder = statement.maybeOne({
  name: 'deliveries.tell-holder',
  params: { id: t.integer },
  row: { id: t.integer },
  sql: ({ id }) => sql`
    update events.webhook_endpoints e set news = true where e.id = ${id} and ${isHeld} and ${isAlive} returning e.id`,
});

/** Holds on. What is news by then has to be looked at once more. No row: it is disabled, deleted, or somebody else's. */
export const keepEndpoint = statement.maybeOne({
  name: 'deliveries.keep',
  params: { id: t.integer, holder: t.uuid },
  row: { id: t.integer },
  sql: ({ id, holder }) => sql`
    update events.webhook_endpoints e set held_until = ${heldUntil}, news = false
    where e.id = ${id} and e.holder = ${holder} and ${isAlive}
    returning e.id`,
});

/**
 * The held endpoint as it is now, whether a delivery is due, the end of the feed at the same moment, and which of the `taken` deliveries are still
 * pending. No row: the endpoint is disabled, deleted, or held by another job.
 */
export const readHeld = statement.maybeOne({
  name: 'deliveries.read-held',
  params: { id: t.integer, holder: t.uuid, taken: t.uuid.array },
  row: { ...held, last_position: t.bigint, has_due: t.boolean, pending: t.uuid.array },
  pipelined: true,
  sql: ({ id, holder, taken }) => sql`
    select ${columns}, h.last_position, exists (
      select from events.webhook_deliveries d
      where d.endpoint_id = ${id} and d.status = 'pending' and d.next_at <= statement_timestamp()) as has_due,
      array(select d.id from events.webhook_deliveries d where d.id = any(${taken}) and d.status = 'pending') as pending
    from events.webhook_endpoints e cross join events.feed_head h
    where e.id = ${id} and e.holder = ${holder} and ${isAlive}`,
});

/** Lets go where nothing is left: no news, and nothing that waits. No row: there is something, or it was not the holder's any more. */
export const leaveEndpoint = statement.maybeOne({
  name: 'deliveries.leave',
  params: { id: t.integer, holder: t.uuid },
  row: { id: t.integer },
  sql: ({ id, holder }) => sql`
    update events.webhook_endpoints e set holder = null
    where e.id = ${id} and e.holder = ${holder} and not e.news
      and not exists (select from events.webhook_deliveries d where d.endpoint_id = ${id} and d.status = 'pending')
    returning e.id`,
});

/** Lets go, unless there is news; then it is the holder's. No row: it was not the holder's any more. */
export const settleEndpoint = statement.maybeOne({
  name: 'deliveries.settle',
  params: { id: t.integer, holder: t.uuid },
  row: { has_news: t.boolean },
  sql: ({ id, holder }) => sql`
    update events.webhook_endpoints e set holder = case when e.news then e.holder end, news = false
    from (select id, news from events.webhook_endpoints where id = ${id} and holder = ${holder} for no key update) as before
    where e.id = before.id
    returning before.news as has_news`,
});

/** Lets go whatever there is, for another one to look at. */
export const releaseEndpoint = statement.none({
  name: 'deliveries.release',
  params: { id: t.integer, holder: t.uuid },
  sql: ({ id, holder }) =>
    sql`update events.webhook_endpoints set holder = null, news = disabled_at is null where id = ${id} and holder = ${holder}`,
});

/** When the next delivery is due that waits. */
export const findNextDue = statement.one({
  name: 'deliveries.next-due',
  params: { id: t.integer },
  row: { wait_ms: t.double.nullable },
  sql: ({ id }) => sql`
    select (extract(epoch from min(next_at) - clock_timestamp()) * 1000)::float8 as wait_ms
    from events.webhook_deliveries where endpoint_id = ${id} and status = 'pending'`,
});

/** How far the feed goes, and whether an endpoint is behind it that has not heard of it: mostly there is none, and nothing more is asked. */
export const readNews = statement.one({
  name: 'deliveries.news',
  row: { last_position: t.bigint, is_owed: t.boolean },
  pipelined: true,
  sql: () => sql`
    select h.last_position, exists (select from events.webhook_endpoints w
      where not w.news and w.disabled_at is null and w.deleted_at is null and w.position < h.last_position) as is_owed
    from events.feed_head h`,
});

const woken = { id: t.integer, is_held: t.boolean };
/** In one order, as others do it at the same time. */
const wakeSql = (condition: Sql): Sql => sql`
  update events.webhook_endpoints e set news = true from (
    select id from events.webhook_endpoints w
    where not w.news and w.disabled_at is null and w.deleted_at is null and ${condition}
    order by id for no key update) as due
  where e.id = due.id
  returning e.id, ${isHeld} as is_held`;

/** Endpoints that want something of what came behind `after`: each hears of it once. Those of other types are not looked at. */
export const wakeEndpoints = statement.many({
  name: 'deliveries.wake',
  planned: 'each-call',
  params: { after: t.bigint, upTo: t.bigint },
  row: woken,
  sql: ({ after, upTo }) =>
    wakeSql(sql`w.position < ${upTo} and coalesce(w.types, array['*']) && (
      select array['*'] || coalesce(array_agg(distinct f.type) || array_agg(distinct split_part(f.type, '.', 1) || '.*'), '{}')
      from events.feed f where f.position > ${after} and f.position <= ${upTo})`),
});

/** Endpoints whose place is that much behind the feed, whatever they want: so it goes on where nothing is wanted. */
export const wakeLate = statement.many({
  name: 'deliveries.wake-late',
  params: { by: t.bigint },
  row: woken,
  sql: ({ by }) => wakeSql(sql`w.position < (select last_position from events.feed_head) - ${by}`),
});

/** Endpoints with something to do that no job can be counted on to do: of one that was ended, or whose process died holding it. */
export const listForgotten = statement.many({
  name: 'deliveries.forgotten',
  row: { id: t.integer },
  sql: () => sql`
    select e.id from events.webhook_endpoints e
    where ${isAlive} and not ${isHeld} and (e.news or e.holder is not null or e.recover_from is not null or exists (
      select from events.webhook_deliveries d
      where d.endpoint_id = e.id and d.status = 'pending' and d.next_at < statement_timestamp() - interval '5 seconds'))`,
});

const due = { id: t.uuid, position: t.bigint.nullable, occurred_at: t.text, tries: t.integer };
export type DueDelivery = RowOf<typeof due>;

/** Takes what is due, oldest first. Should that never end, it is due again after `lease`. */
export const takeDue = statement.many({
  name: 'deliveries.take',
  params: { id: t.integer, limit: t.integer, lease: t.double },
  row: due,
  sql: ({ id, limit, lease }) => sql`
    with due as (
      select d.id from events.webhook_deliveries d
      where d.endpoint_id = ${id} and d.status = 'pending' and d.next_at <= statement_timestamp()
      order by d.next_at limit ${limit} for update skip locked)
    update events.webhook_deliveries d set next_at = clock_timestamp() + ${lease} * interval '1 millisecond' from due where d.id = due.id
    returning d.id, d.position, events.iso_utc(d.occurred_at) as occurred_at, d.tries`,
});

/**
 * The endpoint's place moves to `reached`, and events become deliveries with it: but for what happened before the endpoint was made and came to the feed
 * after. One that has failed is sent again, one that was delivered is not. Those up to `takeUpTo` are taken, as by `takeDue`. With `from` it is the
 * second place that moves, of what is read again, which is over at its end; unless it was set anew meanwhile. No row: the endpoint is somebody else's;
 * without a delivery the row is empty.
 */
export const planDeliveries = statement.many({
  name: 'deliveries.plan',
  params: {
    id: t.integer,
    holder: t.uuid,
    reached: t.bigint,
    from: t.bigint.nullable,
    positions: t.bigint.array,
    occurredAt: t.instant.array,
    takeUpTo: t.bigint,
    lease: t.double,
  },
  row: { id: t.uuid.nullable, position: t.bigint.nullable, occurred_at: t.text.nullable, tries: t.integer.nullable },
  sql: ({ id, holder, reached, from, positions, occurredAt, takeUpTo, lease }) => sql`
    with moved as (
      update events.webhook_endpoints set
        position = case when ${from} is null then greatest(position, ${reached}) else position end,
        recover_from = case when ${from} is null or recover_from <> ${from} then recover_from when ${reached} < recover_to then ${reached} end,
        recover_to = case when ${from} is null or recover_from <> ${from} or ${reached} < recover_to then recover_to end
      where id = ${id} and holder = ${holder} returning id, created_at),
    made as (
      insert into events.webhook_deliveries as d (endpoint_id, position, occurred_at, next_at)
      select m.id, i.position, i.occurred_at,
        clock_timestamp() + case when i.position <= ${takeUpTo} then ${lease} else 0 end * interval '1 millisecond'
      from moved m cross join unnest(${positions}, ${occurredAt}) as i (position, occurred_at)
      where i.occurred_at >= m.created_at order by i.position
      on conflict (endpoint_id, position) do update set status = 'pending', tries = 0, next_at = excluded.next_at
      where d.status = 'failed'
      returning d.id, d.position, d.occurred_at, d.tries)
    select d.id, d.position, events.iso_utc(d.occurred_at) as occurred_at, d.tries from moved left join made d on true order by d.position`,
});

/** It may not be seen any more, or is no longer kept: it was never sent. */
export const dropDeliveries = statement.none({
  name: 'deliveries.drop',
  params: { ids: t.uuid.array },
  sql: ({ ids }) => sql`delete from events.webhook_deliveries where id = any(${ids})`,
});

/** How an attempt ended; what was given up meanwhile is not taken up again by that. Of many attempts the newest fifty are kept. */
export const writeAttempt = statement.none({
  name: 'deliveries.write-attempt',
  params: { id: t.uuid, status: t.text, delay: t.double.nullable, attempt: t.json },
  sql: ({ id, status, delay, attempt }) => sql`
    update events.webhook_deliveries set status = case when ${status} = 'pending' then status else ${status} end, tries = tries + 1,
      next_at = clock_timestamp() + coalesce(${delay}, 0) * interval '1 millisecond',
      attempts = case when jsonb_array_length(attempts) < 50 then attempts else attempts - 0 end || ${attempt}::jsonb
    where id = ${id}`,
});

/** For how long there had been failures alone; no row when the endpoint is gone. */
export const noteFailure = statement.maybeOne({
  name: 'deliveries.note-failure',
  params: { id: t.integer },
  row: { failing_seconds: t.double },
  sql: ({ id }) => sql`
    with first as (update events.webhook_endpoints set failing_since = clock_timestamp() where id = ${id} and failing_since is null)
    select coalesce(extract(epoch from clock_timestamp() - failing_since), 0)::float8 as failing_seconds
    from events.webhook_endpoints where id = ${id}`,
});

export const noteSuccess = statement.none({
  name: 'deliveries.note-success',
  params: { id: t.integer },
  sql: ({ id }) => sql`update events.webhook_endpoints set failing_since = null where id = ${id} and failing_since is not null`,
});

/** The account is gone, and its endpoints with it. */
export const endEndpointsOf = statement.none({
  name: 'deliveries.end-endpoints',
  params: { accountId: t.integer },
  sql: ({ accountId }) => sql`
    update events.webhook_endpoints set deleted_at = clock_timestamp() where account_id = ${accountId} and deleted_at is null`,
});

/** As many as `limit` of the deliveries of events that are no longer kept, and of endpoints that are gone. */
export const dropOld = statement.one({
  name: 'deliveries.drop-old',
  planned: 'each-call',
  params: { before: t.instant, limit: t.integer },
  row: { count: t.bigint },
  sql: ({ before, limit }) => sql`
    with old as materialized (
      select d.id from events.webhook_endpoints e cross join lateral (
        select d.id from events.webhook_deliveries d
        where d.endpoint_id = e.id and d.created_at < case when e.deleted_at is null then ${before} else 'infinity' end
        order by d.created_at limit ${limit}) as d
      limit ${limit}),
    gone as (delete from events.webhook_deliveries where id = any(array(select id from old)) returning 1)
    select count(*) from gone`,
});

export const dropEndpoints = statement.none({
  name: 'deliveries.drop-endpoints',
  sql: () => sql`
    delete from events.webhook_endpoints e
    where e.deleted_at is not null and not exists (select from events.webhook_deliveries d where d.endpoint_id = e.id)`,
});

/** For the metrics. */
export const countEndpoints = statement.one({
  name: 'deliveries.count-endpoints',
  row: { enabled: t.bigint, disabled: t.bigint, failing: t.bigint },
  sql: () => sql`
    select count(*) filter (where disabled_at is null) as enabled, count(*) filter (where disabled_at is not null) as disabled,
      count(*) filter (where disabled_at is null and failing_since < clock_timestamp() - interval '1 hour') as failing
    from events.webhook_endpoints where deleted_at is null`,
});
