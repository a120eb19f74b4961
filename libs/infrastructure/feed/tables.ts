/**
 * Returns the SQL that creates the event outbox of a service (V2). A row is numbered while the transaction holds the
 * lock on the row of its subject, so events of one subject are numbered in commit order. The identity has `cache 1`,
 * because numbers cached by sessions would break this order.
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
