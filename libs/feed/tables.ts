/**
 * Table of what a service tells the feed, until the stream has stored it (V2). The number of a row is drawn while the row of its subject is locked
 * by the same transaction, so that of two changes of one subject the one that commits first has the lower number; the identity keeps no numbers
 * back in sessions (cache 1), which would undo that.
 */
export function feedTables(schema: string): string[] {
  return [
    `create table ${schema}.feed_outbox (
      number bigint generated always as identity (cache 1),
      type text not null,
      subject_type text not null,
      subject_id bigint not null,
      data json not null,
      access json,
      farewell boolean not null default false,
      occurred_at timestamptz not null default clock_timestamp(),
      constraint feed_outbox__number__primary primary key (number)
    ) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0)`,
    `comment on column ${schema}.feed_outbox.access is 'what decides who may read the subject; null = as before'`,
  ];
}
