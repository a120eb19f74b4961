/**
 * Statements of the dispatcher (V6, V7). `webhook_dispatches` is a queue of endpoints: `due_at` is the time of the next
 * dispatch. The process that takes an endpoint from the queue has its lease (`holder`) until `held_until`.
 */
import { type RowOf, type Sql, type SqlPart, sql, statement, t } from '#libs/infrastructure/sql';

export const leaseMs = 30_000;
const after = (milliseconds: SqlPart): Sql => sql`clock_timestamp() + ${milliseconds} * interval '1 millisecond'`;
const isEnabled: Sql = sql`e.disabled_at is null and e.deleted_at is null`;

const endpoint = {
  id: t.integer,
  account_id: t.integer,
  url: t.text,
  types: t.text.array.nullable,
  secret: t.bytes,
  previous_secret: t.bytes.nullable,
  position: t.bigint,
  recover_from: t.bigint.nullable,
  recover_to: t.bigint.nullable,
  last_position: t.bigint,
  has_due: t.boolean,
};
export type LeasedEndpoint = RowOf<typeof endpoint>;

const scheduleSql = (condition: Sql): Sql => sql`
  insert into events.webhook_dispatches as d (endpoint_id, due_at)
  select e.id, statement_timestamp() from events.webhook_endpoints e
  where ${isEnabled} and ${condition} order by e.id
  on conflict (endpoint_id) do update set due_at = least(d.due_at, excluded.due_at)`;

/**
 * Schedules an endpoint. Locks its row even if it is already due, so that it is not dispatched before the caller's
 * transaction commits the new deliveries.
 */
export const scheduleEndpoint = statement.none({
  name: 'dispatches.schedule',
  params: { id: t.integer },
  sql: ({ id }) => scheduleSql(sql`e.id = ${id}`),
});

const isNotDue: Sql = sql`not exists (
  select from events.webhook_dispatches s where s.endpoint_id = e.id and s.due_at <= statement_timestamp())`;

/** Schedules endpoints that subscribe to the type of an event between two positions of the feed. */
export const scheduleSubscribed = statement.none({
  name: 'dispatches.schedule-wanting',
  planned: 'each-call',
  params: { after: t.bigint, upTo: t.bigint },
  sql: ({ after: from, upTo }) =>
    scheduleSql(sql`${isNotDue} and e.position < ${upTo} and coalesce(e.types, array['*']) && (
      select array['*'] || coalesce(array_agg(distinct f.type) || array_agg(distinct split_part(f.type, '.', 1) || '.*'), '{}')
      from events.feed f where f.position > ${from} and f.position <= ${upTo})`),
});

/** Schedules endpoints that lag by more than `by` events of any type, so that their position advances. */
export const scheduleLagging = statement.none({
  name: 'dispatches.schedule-behind',
  params: { by: t.bigint },
  sql: ({ by }) => scheduleSql(sql`${isNotDue} and e.position < (select last_position from events.feed_head) - ${by}`),
});

const lease = { id: t.integer, holder: t.uuid };
export type EndpointLease = RowOf<typeof lease>;

/**
 * Takes endpoints from the queue that are due or whose lease has expired. Scheduling during the lease sets `due_at` for
 * the next dispatch.
 */
export const acquireLeases = statement.many({
  name: 'dispatches.acquire',
  params: { limit: t.integer },
  row: lease,
  sql: ({ limit }) => sql`
    with due as (
      select d.endpoint_id from events.webhook_dispatches d join events.webhook_endpoints e on e.id = d.endpoint_id
      where coalesce(d.held_until, d.due_at) <= statement_timestamp() and ${isEnabled}
      order by coalesce(d.held_until, d.due_at) limit ${limit} for no key update of d skip locked)
    update events.webhook_dispatches d set holder = gen_random_uuid(), held_until = ${after(sql.literal(String(leaseMs)))}, due_at = null
    from due where d.endpoint_id = due.endpoint_id returning d.endpoint_id as id, d.holder`,
});

export const renewLeases = statement.none({
  name: 'dispatches.renew',
  params: { holders: t.uuid.array, ids: t.integer.array },
  sql: ({ holders, ids }) => sql`
    with leased as (
      select d.endpoint_id from events.webhook_dispatches d join unnest(${ids}, ${holders}) as i (id, holder)
        on d.endpoint_id = i.id and d.holder = i.holder
      order by d.endpoint_id for no key update of d)
    update events.webhook_dispatches d set held_until = ${after(sql.literal(String(leaseMs)))} from leased where d.endpoint_id = leased.endpoint_id`,
});

/**
 * Returns the endpoint to the queue. It is due with its next delivery, after `retryMs`, or at once when it was
 * scheduled during the lease.
 */
export const releaseLease = statement.maybeOne({
  name: 'dispatches.release',
  params: { ...lease, retryMs: t.double.nullable },
  row: { is_due: t.boolean },
  sql: ({ id, holder, retryMs }) => sql`
    update events.webhook_dispatches set holder = null, held_until = null, due_at = least(due_at, ${after(retryMs)}, (
      select min(next_at) from events.webhook_deliveries where endpoint_id = ${id} and status = 'pending'))
    where endpoint_id = ${id} and holder = ${holder}
    returning coalesce(due_at <= statement_timestamp(), false) as is_due`,
});

/**
 * Returns the current endpoint, the end of the feed, and whether a delivery is due. Returns no row when the endpoint is
 * disabled or deleted, or the lease is lost.
 */
export const readLeased = statement.maybeOne({
  name: 'dispatches.read',
  params: lease,
  row: endpoint,
  pipelined: true,
  sql: ({ id, holder }) => sql`
    select e.id, e.account_id, e.url, e.types, e.secret,
      case when e.previous_until > clock_timestamp() then e.previous_secret end as previous_secret,
      e.position, e.recover_from, e.recover_to, h.last_position, exists (
        select from events.webhook_deliveries q
        where q.endpoint_id = ${id} and q.status = 'pending' and q.next_at <= statement_timestamp()) as has_due
    from events.webhook_dispatches d join events.webhook_endpoints e on e.id = d.endpoint_id cross join events.feed_head h
    where d.endpoint_id = ${id} and d.holder = ${holder} and ${isEnabled}`,
});

const delivery = { id: t.uuid, position: t.bigint.nullable, occurred_at: t.text, tries: t.integer };
export type DeliveryRow = RowOf<typeof delivery>;
const deliveryColumns: Sql = sql`d.id, d.position, events.iso_utc(d.occurred_at) as occurred_at, d.tries`;

/** Claims due deliveries, oldest first. A delivery without an outcome is due again after `claimMs`. */
export const claimDue = statement.many({
  name: 'deliveries.take',
  params: { id: t.integer, limit: t.integer, claimMs: t.double },
  row: delivery,
  sql: ({ id, limit, claimMs }) => sql`
    with due as (
      select d.id from events.webhook_deliveries d
      where d.endpoint_id = ${id} and d.status = 'pending' and d.next_at <= statement_timestamp()
      order by d.next_at limit ${limit} for update skip locked)
    update events.webhook_deliveries d set next_at = ${after(claimMs)} from due where d.id = due.id
    returning ${deliveryColumns}`,
});

/**
 * Creates deliveries for events and advances the position of the endpoint to `reached`. With `recoverFrom` it advances
 * the recovery instead, unless the recovery was restarted meanwhile; failed deliveries are sent again. Events older
 * than the endpoint are skipped.
 * @returns the deliveries of the first `limit` events, claimed as by `claimDue`; the other deliveries are due at once
 */
export const insertDeliveries = statement.many({
  name: 'deliveries.insert',
  params: {
    ...lease,
    reached: t.bigint,
    recoverFrom: t.bigint.nullable,
    positions: t.bigint.array,
    occurredAt: t.instant.array,
    limit: t.integer,
    claimMs: t.double,
  },
  row: delivery,
  sql: ({ id, holder, reached, recoverFrom: from, positions, occurredAt, limit, claimMs }) => sql`
    with moved as (
      update events.webhook_endpoints e set
        position = case when ${from} is null then greatest(position, ${reached}) else position end,
        recover_from = case when ${from} is null or recover_from <> ${from} then recover_from when ${reached} < recover_to then ${reached} end,
        recover_to = case when ${from} is null or recover_from <> ${from} or ${reached} < recover_to then recover_to end
      from events.webhook_dispatches l
      where e.id = ${id} and l.endpoint_id = e.id and l.holder = ${holder} returning e.id, e.created_at),
    inserted as (
      insert into events.webhook_deliveries as d (endpoint_id, position, occurred_at, next_at)
      select m.id, i.position, i.occurred_at, statement_timestamp() + case when i.number <= ${limit} then ${claimMs} else 0 end * interval '1 millisecond'
      from moved m cross join unnest(${positions}, ${occurredAt}) with ordinality as i (position, occurred_at, number)
      where i.occurred_at >= m.created_at order by i.position
      on conflict (endpoint_id, position) do update set status = 'pending', tries = 0, next_at = excluded.next_at where d.status = 'failed'
      returning d.id, d.position, d.occurred_at, d.tries, d.next_at)
    select ${deliveryColumns} from inserted d where d.next_at > statement_timestamp() order by d.position`,
});

/** Drops deliveries of events that the account can no longer read or that are removed from the feed. */
export const dropDeliveries = statement.none({
  name: 'deliveries.drop',
  params: { ids: t.uuid.array },
  sql: ({ ids }) => sql`delete from events.webhook_deliveries where id = any(${ids})`,
});

/** Adds an attempt to a delivery, which stores the newest fifty attempts. */
const addAttempt = (attempt: SqlPart): Sql => sql`tries = tries + 1,
  attempts = case when jsonb_array_length(attempts) < 50 then attempts else attempts - 0 end || ${attempt}::jsonb`;

/**
 * Records a successful attempt. It locks the endpoint before the delivery, like all statements, to prevent deadlocks.
 */
export const recordSuccess = statement.none({
  name: 'deliveries.record-success',
  params: { id: t.uuid, endpointId: t.integer, attempt: t.json },
  sql: ({ id, endpointId, attempt }) => sql`
    with recovered as (
      update events.webhook_endpoints set failing_since = null where id = ${endpointId} and failing_since is not null returning 1)
    update events.webhook_deliveries set status = 'delivered', ${addAttempt(attempt)}
    from (select count(*) from recovered) as endpoint_first where id = ${id}`,
});

/**
 * Records a failed attempt. The delivery is due again after `retryMs`; null marks it as failed. A delivery that was
 * cancelled meanwhile remains failed.
 */
export const recordFailure = statement.none({
  name: 'deliveries.record-failure',
  params: { id: t.uuid, retryMs: t.double.nullable, attempt: t.json },
  sql: ({ id, retryMs, attempt }) => sql`
    update events.webhook_deliveries set status = case when ${retryMs} is null then 'failed' else status end,
      next_at = coalesce(${after(retryMs)}, clock_timestamp()), ${addAttempt(attempt)} where id = ${id}`,
});

/**
 * Records that the endpoint fails. Returns the seconds since the first failure after the last success; returns no row
 * when the endpoint does not exist.
 */
export const noteFailure = statement.maybeOne({
  name: 'deliveries.note-failure',
  params: { id: t.integer },
  row: { failing_seconds: t.double },
  sql: ({ id }) => sql`
    with first as (update events.webhook_endpoints set failing_since = clock_timestamp() where id = ${id} and failing_since is null)
    select coalesce(extract(epoch from clock_timestamp() - failing_since), 0)::float8 as failing_seconds
    from events.webhook_endpoints where id = ${id}`,
});

export const countEndpoints = statement.one({
  name: 'deliveries.count-endpoints',
  row: { enabled: t.bigint, disabled: t.bigint, failing: t.bigint },
  sql: () => sql`
    select count(*) filter (where disabled_at is null) as enabled, count(*) filter (where disabled_at is not null) as disabled,
      count(*) filter (where disabled_at is null and failing_since < clock_timestamp() - interval '1 hour') as failing
    from events.webhook_endpoints where deleted_at is null`,
});
