import { Migration } from '#libs/orm/migrations';

/**
 * A queue of endpoints that have something to send, one row each, in place of jobs and of columns of the endpoint. It is a table of its own because its
 * rows change with every event, and those of endpoints have indexes that should not. No release has had the columns.
 */
export class Migration20261201090000_webhook_dispatches extends Migration {
  override up(): void {
    for (const sql of statements) this.addSql(sql);
  }
}

const statements = [
  `create table events.webhook_dispatches (
    endpoint_id integer not null,
    due_at timestamptz,
    holder uuid,
    held_until timestamptz,
    constraint webhook_dispatches__endpoint_id__primary primary key (endpoint_id),
    constraint webhook_dispatches__endpoint_id__foreign foreign key (endpoint_id) references events.webhook_endpoints (id) on delete cascade,
    constraint webhook_dispatches__holder__whole check ((holder is null) = (held_until is null))
  ) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000)`,
  `create index webhook_dispatches__due__index on events.webhook_dispatches ((coalesce(held_until, due_at)))`,
  `comment on column events.webhook_dispatches.due_at is 'when the endpoint is dispatched next; null = nothing is to be sent'`,
  `comment on column events.webhook_dispatches.holder is 'lease of the one dispatcher that sends, until held_until'`,
  `insert into events.webhook_dispatches (endpoint_id, due_at)
    select id, now() from events.webhook_endpoints where disabled_at is null and deleted_at is null`,
  `alter table events.webhook_endpoints drop column news, drop column holder, drop column held_until`,
];
