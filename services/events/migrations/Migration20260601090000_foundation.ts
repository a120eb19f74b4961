import { auditTables } from '#libs/audit';
import { cancelledJobs, jobAttempts, jobTables } from '#libs/jobs';
import { Migration } from '#libs/orm/migrations';

/**
 * The feed by days, so that retention drops tables and deletes no rows; what is known of its subjects; and one row that says how far the feed goes
 * and who may write it. Tables are made and dropped by two functions of their owner: the service has no right to do that itself.
 */
export class Migration20260601090000_foundation extends Migration {
  override up(): void {
    const jobs = [jobTables('events'), ...cancelledJobs('events'), ...jobAttempts('events')];
    for (const sql of [...tables, ...functions, ...jobs, ...auditTables('events')]) this.addSql(sql);
  }
}

const tables = [
  `create table events.feed (
    position bigint not null,
    occurred_at timestamptz not null,
    service text not null,
    number bigint not null,
    id uuid not null,
    type text not null,
    subject_type text not null,
    subject_id bigint not null,
    data json not null,
    farewell boolean not null,
    constraint feed__occurred_at_service_number__primary primary key (occurred_at, service, number)
  ) partition by range (occurred_at)`,
  // For rows of days without a table, which a restored backup brings; the days of what happens have one.
  `create table events.feed_other partition of events.feed default`,
  `create index feed__position__index on events.feed (position)`,
  `create index feed__subject__index on events.feed (subject_type, subject_id, position)`,
  `comment on column events.feed.number is 'place in the outbox of the service: with the service it tells whether the feed has it already'`,
  `comment on column events.feed.farewell is 'shown although the subject is gone'`,
  `create table events.subjects (
    type text not null,
    id bigint not null,
    known boolean not null,
    holons integer[] not null,
    people integer[] not null,
    gone boolean not null,
    last_position bigint not null,
    constraint subjects__type_id__primary primary key (type, id)
  ) with (fillfactor = 80)`,
  `create index subjects__last_position__index on events.subjects (last_position)`,
  `create index subjects__unknown__index on events.subjects (type, id) where not known`,
  `comment on column events.subjects.known is 'whether its owner has said who may read it'`,
  `comment on column events.subjects.holons is 'who does not see one of them does not see the subject'`,
  `comment on column events.subjects.people is 'who takes part'`,
  `comment on column events.subjects.gone is 'deleted or erased: nothing but that shows'`,
  `create table events.feed_head (
    one boolean not null default true,
    last_position bigint not null default 0,
    floor_position bigint not null default 0,
    stream_sequence bigint not null default 0,
    holder uuid,
    held_until timestamptz not null default now(),
    cursor_key text not null default replace(gen_random_uuid()::text, '-', ''),
    constraint feed_head__one__primary primary key (one),
    constraint feed_head__one__only check (one)
  )`,
  `insert into events.feed_head default values`,
  `comment on column events.feed_head.floor_position is 'the last event that is no longer kept'`,
  `comment on column events.feed_head.stream_sequence is 'the last message of the stream FEED that is in the feed'`,
];

const functions = [
  `create function events.add_feed_days(first date, last date) returns void
    language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
    declare day date;
    begin
      perform pg_advisory_xact_lock(hashtextextended('events.feed-days', 0));
      for day in select generate_series(first, last, interval '1 day')::date loop
        if to_regclass(format('events.feed_%s', to_char(day, 'YYYYMMDD'))) is null and not exists (select from events.feed_other
          where occurred_at >= day::timestamp at time zone 'UTC' and occurred_at < (day + 1)::timestamp at time zone 'UTC') then
          execute format('create table events.%I partition of events.feed for values from (%L) to (%L)',
            'feed_' || to_char(day, 'YYYYMMDD'), day::timestamp at time zone 'UTC', (day + 1)::timestamp at time zone 'UTC');
        end if;
      end loop;
    end $$`,
  // What is younger but stands before the last that goes is no longer read either: no reader may find a gap.
  `create function events.end_feed_before(before timestamptz) returns bigint
    language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
    declare
      day record;
      floor_before bigint;
      last bigint;
    begin
      select floor_position into floor_before from events.feed_head for update;
      select max(position) into last from events.feed where occurred_at < before;
      update events.feed_head set floor_position = greatest(floor_position, coalesce(last, 0));
      set local lock_timeout = '3s';
      for day in
        select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
        where i.inhparent = 'events.feed'::regclass and c.relname like 'feed\\_2%' and c.relname < 'feed_' || to_char(before at time zone 'UTC', 'YYYYMMDD')
      loop
        execute format('drop table events.%I', day.relname);
      end loop;
      delete from events.feed_other where occurred_at < before;
      return greatest(coalesce(last, 0) - floor_before, 0);
    end $$`,
  `select events.add_feed_days((now() at time zone 'UTC')::date - 1, (now() at time zone 'UTC')::date + 2)`,
];
