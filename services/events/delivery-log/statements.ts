/** Statements on deliveries for the owner of the endpoint, and their cleanup (V5, V10, V11). */
import { type RowOf, type Sql, sql, statement, t } from '#libs/infrastructure/sql';

const listed = {
  id: t.uuid,
  position: t.bigint.nullable,
  occurred_at: t.text,
  /** Null for a test. */
  event_id: t.uuid.nullable,
  /** JSON with the other fields of the delivery. */
  body: t.text,
};
export type ListedDelivery = RowOf<typeof listed>;

const columns: Sql = sql`d.id, d.position, events.iso_utc(d.occurred_at) as occurred_at, f.id as event_id,
  json_build_object('status', d.status, 'attempts', d.attempts, 'created_at', events.iso_utc(d.created_at),
    'next_attempt_at', case when d.status = 'pending' then events.iso_utc(d.next_at) end)::text as body`;

/** Deliveries with their events. Deliveries of events that are removed from the feed are not listed. */
const source: Sql = sql`events.webhook_deliveries d left join events.feed f on f.position = d.position and f.occurred_at = d.occurred_at`;
const isInFeed: Sql = sql`(d.position is null or f.id is not null)`;

/** Returns the deliveries older than `before`, newest first. */
export const listDeliveries = statement.many({
  name: 'deliveries.list',
  planned: 'each-call',
  params: { endpointId: t.integer, status: t.text.nullable, before: t.uuid.nullable, limit: t.integer },
  row: listed,
  sql: ({ endpointId, status, before, limit }) => sql`
    select ${columns} from ${source}
    where d.endpoint_id = ${endpointId} and ${isInFeed} and (${status} is null or d.status = ${status})
      and (${before} is null or (d.created_at, d.id) < (select b.created_at, b.id from events.webhook_deliveries b where b.id = ${before}))
    order by d.created_at desc, d.id desc limit ${limit}`,
});

export const getDelivery = statement.maybeOne({
  name: 'deliveries.get',
  params: { endpointId: t.integer, id: t.uuid },
  row: listed,
  sql: ({ endpointId, id }) =>
    sql`select ${columns} from ${source} where d.endpoint_id = ${endpointId} and d.id = ${id} and ${isInFeed}`,
});

/** Resets a delivery in any state, so that it is sent again with all attempts. */
export const redeliver = statement.none({
  name: 'deliveries.send-again',
  params: { id: t.uuid },
  sql: ({ id }) => sql`
    update events.webhook_deliveries set status = 'pending', tries = 0, next_at = clock_timestamp() where id = ${id}`,
});

export const insertTest = statement.one({
  name: 'deliveries.insert-test',
  params: { endpointId: t.integer },
  row: { id: t.uuid },
  sql: ({ endpointId }) => sql`
    insert into events.webhook_deliveries (endpoint_id, occurred_at) values (${endpointId}, clock_timestamp()) returning id`,
});

/**
 * Returns the position before all events since a time; null without such events. Positions follow time only
 * approximately: an event that waited in an outbox has a later position than newer events of other services.
 */
export const findPositionBefore = statement.one({
  name: 'deliveries.position-before',
  planned: 'each-call',
  params: { since: t.instant },
  row: { position: t.bigint.nullable },
  sql: ({ since }) => sql`
    select min(position) - 1 as position from events.feed where occurred_at >= ${since}`,
});

/**
 * Starts a recovery from a position up to the current position of the endpoint, and makes pending retries due at once.
 */
export const startRecovery = statement.none({
  name: 'deliveries.recover',
  params: { endpointId: t.integer, position: t.bigint },
  sql: ({ endpointId, position }) => sql`
    with due_now as (
      update events.webhook_deliveries set next_at = clock_timestamp(), tries = 0
      where endpoint_id = ${endpointId} and status = 'pending' and position > ${position} and tries > 0)
    update events.webhook_endpoints set recover_from = least(recover_from, greatest(${position}, first_position)), recover_to = position
    where id = ${endpointId} and greatest(${position}, first_position) < position`,
});

/** Deletes up to `limit` deliveries that are older than a time or belong to deleted endpoints. */
export const deleteOldDeliveries = statement.one({
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
    dropped as (delete from events.webhook_deliveries where id = any(array(select id from old)) returning 1)
    select count(*) from dropped`,
});

/** Deletes endpoints that are marked as deleted and have no deliveries left. */
export const deleteEndpoints = statement.none({
  name: 'deliveries.drop-endpoints',
  sql: () => sql`
    delete from events.webhook_endpoints e
    where e.deleted_at is not null and not exists (select from events.webhook_deliveries d where d.endpoint_id = e.id)`,
});
