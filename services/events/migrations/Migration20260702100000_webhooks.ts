import { feedTables } from '#libs/feed';
import { idempotencyRecordsTable } from '#libs/idempotency';
import { Migration } from '#libs/orm/migrations';

/**
 * Webhook endpoints, each with its place in the feed, and what was sent to them. A delivery names its event by position and time, so that it is
 * found in its day; what it says is not copied. The service tells the feed itself now, of endpoints that are disabled.
 */
export class Migration20260702100000_webhooks extends Migration {
  override up(): void {
    for (const sql of [...tables, ...feedTables('events'), ...idempotencyRecordsTable('events')]) this.addSql(sql);
  }
}

const tables = [
  `create table events.webhook_endpoints (
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
    news boolean not null default false,
    holder uuid,
    held_until timestamptz,
    constraint webhook_endpoints__id__primary primary key (id),
    constraint webhook_endpoints__secret__length check (octet_length(secret) = 32),
    constraint webhook_endpoints__previous__whole check ((previous_secret is null) = (previous_until is null)),
    constraint webhook_endpoints__disabled__whole check ((disabled_at is null) = (disabled_reason is null)),
    constraint webhook_endpoints__recover__whole check ((recover_from is null) = (recover_to is null))
  ) with (fillfactor = 70)`,
  `create index webhook_endpoints__account_id__index on events.webhook_endpoints (account_id, id)`,
  `comment on column events.webhook_endpoints.account_id is 'whose eyes decide what is sent; no foreign key: accounts are the directory''s'`,
  `comment on column events.webhook_endpoints.types is 'null = all'`,
  `comment on column events.webhook_endpoints.secret is 'as it is, since it signs'`,
  `comment on column events.webhook_endpoints.first_position is 'the feed when it was made: nothing from before is sent'`,
  `comment on column events.webhook_endpoints.position is 'up to there the feed has become deliveries'`,
  `comment on column events.webhook_endpoints.recover_from is 'from there to recover_to the feed is read again'`,
  `comment on column events.webhook_endpoints.news is 'there may be something to do that nobody has begun'`,
  `comment on column events.webhook_endpoints.holder is 'the one job that sends, until held_until'`,
  `create table events.webhook_deliveries (
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
  ) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000)`,
  `create unique index webhook_deliveries__endpoint_id_position__unique on events.webhook_deliveries (endpoint_id, position)`,
  `create index webhook_deliveries__due__index on events.webhook_deliveries (endpoint_id, next_at) where status = 'pending'`,
  `create index webhook_deliveries__order__index on events.webhook_deliveries (endpoint_id, created_at desc, id desc)`,
  `create index webhook_deliveries__status__order on events.webhook_deliveries (endpoint_id, status, created_at desc, id desc)`,
  `comment on column events.webhook_deliveries.position is 'of the event; null = a test, which is not in the feed'`,
  `comment on column events.webhook_deliveries.occurred_at is 'of the event: its day in the feed'`,
  `comment on column events.webhook_deliveries.tries is 'since it was to be sent'`,
  `comment on column events.webhook_deliveries.next_at is 'not sent before; of one that is being sent, when it is taken up again should that never end'`,
];
