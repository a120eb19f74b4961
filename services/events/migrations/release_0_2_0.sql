-- The feed is partitioned by days, so that retention drops tables instead of deleting rows.
create table events.feed (
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
) partition by range (occurred_at);

-- Rows of days without a table: a restored backup brings some.
create table events.feed_other partition of events.feed default;
create index feed__position__index on events.feed (position);
create index feed__subject__index on events.feed (subject_type, subject_id, position);
create index feed__type__index on events.feed (type, position);
comment on column events.feed.number is 'position in the outbox of the service; identifies the event together with the service';
comment on column events.feed.farewell is 'shown although the subject is deleted';

create table events.subjects (
  type text not null,
  id bigint not null,
  known boolean not null,
  holons integer[] not null,
  people integer[] not null,
  gone boolean not null,
  last_position bigint not null,
  constraint subjects__type_id__primary primary key (type, id)
) with (fillfactor = 80);
create index subjects__unknown__index on events.subjects (type, id) where not known;
create index subjects__type__order on events.subjects (type, last_position);
create index subjects__people__index on events.subjects using gin (people) where type = 'conversation';
create index subjects__holons__index on events.subjects using gin (holons) where type = 'conversation';
create index subjects__type_holons__index on events.subjects (type, holons, last_position);
comment on column events.subjects.last_position is 'not updated for every event of a frequently changed subject';
comment on column events.subjects.known is 'whether its owner has published who may read it';
comment on column events.subjects.holons is 'a reader must see all of them';
comment on column events.subjects.people is 'participants';
comment on column events.subjects.gone is 'deleted or erased: only the event about that is shown';

create table events.feed_head (
  one boolean not null default true,
  last_position bigint not null default 0,
  floor_position bigint not null default 0,
  stream_sequence bigint not null default 0,
  holder uuid,
  held_until timestamptz not null default now(),
  cursor_key text not null default replace(gen_random_uuid()::text, '-', ''),
  constraint feed_head__one__primary primary key (one),
  constraint feed_head__one__only check (one)
);
insert into events.feed_head default values;
comment on column events.feed_head.floor_position is 'the last event that retention removed';
comment on column events.feed_head.stream_sequence is 'the last message of the stream FEED that is in the feed';

-- Excludes a day from the default partition, so that attaching the table of the day does not scan all rows under an exclusive lock. Not
-- for days of which events may arrive now: until the table is attached, the check rejects them.
create function events.exclude_feed_day(day date) returns boolean language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '500ms' as $$
  declare
    name text := 'feed_other__not_' || to_char(day, 'YYYYMMDD');
    valid boolean := (select convalidated from pg_constraint where conrelid = 'events.feed_other'::regclass and conname = name);
  begin
    perform pg_advisory_xact_lock(hashtextextended('events.feed-days', 0));
    if valid is not null then return not valid; end if;
    if day <= (now() at time zone 'UTC')::date + 1 or not exists (select from events.feed_other) then return false; end if;
    execute format('alter table events.feed_other add constraint %I check (occurred_at < %L or occurred_at >= %L) not valid', name, day::timestamp at time zone 'UTC', (day + 1)::timestamp at time zone 'UTC');
    return true;
  end $$;

create function events.validate_feed_day(day date) returns void language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '500ms' as $$
  begin
    execute format('alter table events.feed_other validate constraint %I', 'feed_other__not_' || to_char(day, 'YYYYMMDD'));
  end $$;

-- One transaction, so that no table is left detached: a backup would take it for a table of its own.
create function events.add_feed_day(day date) returns void language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '500ms' as $$
  declare name text := 'feed_' || to_char(day, 'YYYYMMDD');
  begin
    perform pg_advisory_xact_lock(hashtextextended('events.feed-days', 0));
    if to_regclass('events.' || name) is null then
      execute format('create table events.%I (like events.feed including all)', name);
      execute format('alter table events.feed attach partition events.%I for values from (%L) to (%L)', name, day::timestamp at time zone 'UTC', (day + 1)::timestamp at time zone 'UTC');
    end if;
    execute format('alter table events.feed_other drop constraint if exists %I', 'feed_other__not_' || to_char(day, 'YYYYMMDD'));
  end $$;

create function events.drop_feed_day(day date) returns void language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '500ms' as $$
  begin
    execute format('drop table if exists events.%I', 'feed_' || to_char(day, 'YYYYMMDD'));
  end $$;

select events.add_feed_day((now() at time zone 'UTC')::date + days) from generate_series(-1, 2) as days;

create table events.webhook_endpoints (
  id integer generated always as identity,
  account_id integer not null,
  url text not null,
  types text[],
  description text not null,
  secret bytea not null,
  previous_secret bytea,
  previous_until timestamptz,
  created_at timestamptz not null default clock_timestamp(),
  disabled_at timestamptz,
  disabled_reason text,
  failing_since timestamptz,
  deleted_at timestamptz,
  first_position bigint not null,
  position bigint not null,
  recover_from bigint,
  recover_to bigint,
  created_by_key_id text,
  constraint webhook_endpoints__id__primary primary key (id),
  constraint webhook_endpoints__secret__length check (octet_length(secret) = 32),
  constraint webhook_endpoints__previous__whole check ((previous_secret is null) = (previous_until is null)),
  constraint webhook_endpoints__disabled__whole check ((disabled_at is null) = (disabled_reason is null)),
  constraint webhook_endpoints__recover__whole check ((recover_from is null) = (recover_to is null))
) with (fillfactor = 70);
create index webhook_endpoints__account_id__index on events.webhook_endpoints (account_id, id);
create index webhook_endpoints__wanted__index on events.webhook_endpoints using gin ((coalesce(types, array['*'])))
    where deleted_at is null and disabled_at is null;
comment on column events.webhook_endpoints.created_by_key_id is 'null = created without a service key';
comment on column events.webhook_endpoints.account_id is 'only events that this account may read are sent; no foreign key: accounts are in the directory';
comment on column events.webhook_endpoints.types is 'null = all';
comment on column events.webhook_endpoints.secret is 'in plain text, because it signs';
comment on column events.webhook_endpoints.first_position is 'end of the feed at creation: earlier events are not sent';
comment on column events.webhook_endpoints.position is 'last event of the feed for which deliveries exist';
comment on column events.webhook_endpoints.recover_from is 'the feed is read again from here to recover_to';

create table events.webhook_deliveries (
  id uuid not null default gen_random_uuid(),
  endpoint_id integer not null,
  position bigint,
  occurred_at timestamptz not null,
  status text not null default 'pending',
  tries integer not null default 0,
  next_at timestamptz not null default clock_timestamp(),
  attempts jsonb not null default '[]',
  created_at timestamptz not null default clock_timestamp(),
  constraint webhook_deliveries__id__primary primary key (id),
  constraint webhook_deliveries__endpoint_id__foreign foreign key (endpoint_id) references events.webhook_endpoints (id),
  constraint webhook_deliveries__status__known check (status in ('pending', 'delivered', 'failed'))
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
create unique index webhook_deliveries__endpoint_id_position__unique on events.webhook_deliveries (endpoint_id, position);
create index webhook_deliveries__due__index on events.webhook_deliveries (endpoint_id, next_at) where status = 'pending';
create index webhook_deliveries__order__index on events.webhook_deliveries (endpoint_id, created_at desc, id desc);
create index webhook_deliveries__status__order on events.webhook_deliveries (endpoint_id, status, created_at desc, id desc);
comment on column events.webhook_deliveries.position is 'position of the event; null = a test event, which is not in the feed';
comment on column events.webhook_deliveries.occurred_at is 'time of the event; finds its partition';
comment on column events.webhook_deliveries.tries is 'attempts so far';
comment on column events.webhook_deliveries.next_at is 'earliest time of the next attempt; while an attempt runs, when it counts as lost';

create table events.webhook_dispatches (
  endpoint_id integer not null,
  due_at timestamptz,
  holder uuid,
  held_until timestamptz,
  constraint webhook_dispatches__endpoint_id__primary primary key (endpoint_id),
  constraint webhook_dispatches__endpoint_id__foreign foreign key (endpoint_id) references events.webhook_endpoints (id) on delete cascade,
  constraint webhook_dispatches__holder__whole check ((holder is null) = (held_until is null))
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
create index webhook_dispatches__due__index on events.webhook_dispatches ((coalesce(held_until, due_at)));
comment on column events.webhook_dispatches.due_at is 'next dispatch of the endpoint; null = nothing to send';
comment on column events.webhook_dispatches.holder is 'lease of the dispatcher that sends, until held_until';
