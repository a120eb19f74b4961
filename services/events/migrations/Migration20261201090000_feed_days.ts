import { Migration } from '#libs/orm/migrations';

/**
 * Tables for days of the feed are made detached and attached, which lets others read and write the feed meanwhile; each function waits for locks
 * for a moment only. The functions that they replace are dropped: no release has called them.
 */
export class Migration20261201090000_feed_days extends Migration {
  override up(): void {
    for (const sql of functions) this.addSql(sql);
  }
}

const definer = `language plpgsql security definer set search_path = pg_catalog, pg_temp set lock_timeout = '500ms'`;
const bounds = `day::timestamp at time zone 'UTC', (day + 1)::timestamp at time zone 'UTC'`;

const functions = [
  // Without it, attaching reads all rows of the default partition under its exclusive lock. Not for days of which events may come now: until the
  // table is attached, the check refuses them.
  `create function events.exclude_feed_day(day date) returns boolean ${definer} as $$
    declare
      name text := 'feed_other__not_' || to_char(day, 'YYYYMMDD');
      valid boolean := (select convalidated from pg_constraint where conrelid = 'events.feed_other'::regclass and conname = name);
    begin
      perform pg_advisory_xact_lock(hashtextextended('events.feed-days', 0));
      if valid is not null then return not valid; end if;
      if day <= (now() at time zone 'UTC')::date + 1 or not exists (select from events.feed_other) then return false; end if;
      execute format('alter table events.feed_other add constraint %I check (occurred_at < %L or occurred_at >= %L) not valid', name, ${bounds});
      return true;
    end $$`,
  `create function events.validate_feed_day(day date) returns void ${definer} as $$
    begin
      execute format('alter table events.feed_other validate constraint %I', 'feed_other__not_' || to_char(day, 'YYYYMMDD'));
    end $$`,
  // One transaction, so that no table is left detached: a backup would take it for a table of its own.
  `create function events.add_feed_day(day date) returns void ${definer} as $$
    declare name text := 'feed_' || to_char(day, 'YYYYMMDD');
    begin
      perform pg_advisory_xact_lock(hashtextextended('events.feed-days', 0));
      if to_regclass('events.' || name) is null then
        execute format('create table events.%I (like events.feed including all)', name);
        execute format('alter table events.feed attach partition events.%I for values from (%L) to (%L)', name, ${bounds});
      end if;
      execute format('alter table events.feed_other drop constraint if exists %I', 'feed_other__not_' || to_char(day, 'YYYYMMDD'));
    end $$`,
  `create function events.drop_feed_day(day date) returns void ${definer} as $$
    begin
      execute format('drop table if exists events.%I', 'feed_' || to_char(day, 'YYYYMMDD'));
    end $$`,
  `drop function events.add_feed_days(date, date)`,
  `drop function events.end_feed_before(timestamptz)`,
];
