/**
 * Statements that add and drop the day tables of the feed (V2, V3). Each runs in its own transaction and waits at most
 * half a second for locks.
 */
import { sql, statement, t } from '#libs/infrastructure/sql';

/** Returns the days without a table, except days with events in the default partition. */
export const listMissingDays = statement.many({
  name: 'feed.list-missing-days',
  params: { first: t.date, last: t.date },
  row: { day: t.date },
  sql: ({ first, last }) => sql`
    select d.day::date as day from generate_series(${first}::timestamp, ${last}::timestamp, interval '1 day') as d (day)
    where to_regclass('events.feed_' || to_char(d.day, 'YYYYMMDD')) is null and not exists (select from events.feed
      where occurred_at >= d.day at time zone 'UTC' and occurred_at < (d.day + interval '1 day') at time zone 'UTC')
    order by d.day`,
});

/**
 * Excludes a day from the default partition. @returns whether the default partition has a new check constraint to
 * validate
 */
export const excludeDay = statement.one({
  name: 'feed.exclude-day',
  params: { day: t.date },
  row: { excluded: t.boolean },
  sql: ({ day }) => sql`select events.exclude_feed_day(${day}) as excluded`,
});

export const validateDay = statement.none({
  name: 'feed.validate-day',
  params: { day: t.date },
  sql: ({ day }) => sql`select events.validate_feed_day(${day})`,
});

export const addDay = statement.none({
  name: 'feed.add-day',
  params: { day: t.date },
  sql: ({ day }) => sql`select events.add_feed_day(${day})`,
});

/** Returns the number of consecutive days, starting with `first`, that have a table. */
export const countDays = statement.one({
  name: 'feed.count-days',
  params: { first: t.date, last: t.date },
  row: { days: t.integer },
  sql: ({ first, last }) => sql`
    select coalesce(min(d.day::date) filter (where to_regclass('events.feed_' || to_char(d.day, 'YYYYMMDD')) is null), ${last}::date + 1)
      - ${first}::date as days
    from generate_series(${first}::timestamp, ${last}::timestamp, interval '1 day') as d (day)`,
});

/**
 * Hides events before a time, and newer events whose position is before the last of them, so that readers see no gaps.
 * @returns the approximate number of newly hidden events
 */
export const raiseFloor = statement.one({
  name: 'feed.raise-floor',
  params: { before: t.instant },
  row: { removed: t.bigint },
  sql: ({ before }) => sql`
    with ended as (select coalesce(max(position), 0) as position from events.feed where occurred_at < ${before}),
      head as (select floor_position from events.feed_head for update)
    update events.feed_head h set floor_position = greatest(h.floor_position, ended.position) from ended, head
    returning greatest(ended.position - head.floor_position, 0) as removed`,
});

/** Returns the days of tables that end before a time. */
export const listEndedDays = statement.many({
  name: 'feed.list-ended-days',
  params: { before: t.instant },
  row: { day: t.date },
  sql: ({ before }) => sql`
    select to_date(right(c.relname, 8), 'YYYYMMDD') as day from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'events.feed'::regclass and c.relname ~ '^feed_\\d{8}$'
      and c.relname < 'feed_' || to_char(${before} at time zone 'UTC', 'YYYYMMDD')
    order by c.relname`,
});

export const dropDay = statement.none({
  name: 'feed.drop-day',
  params: { day: t.date },
  sql: ({ day }) => sql`select events.drop_feed_day(${day})`,
});

/** Deletes up to `limit` old events of the default partition. */
export const deleteFromDefaultPartition = statement.one({
  name: 'feed.delete-other',
  params: { before: t.instant, limit: t.integer },
  row: { count: t.integer },
  sql: ({ before, limit }) => sql`
    with ended as (
      delete from events.feed_other where ctid = any (array(select ctid from events.feed_other where occurred_at < ${before} limit ${limit}))
      returning 1)
    select count(*)::integer as count from ended`,
});
