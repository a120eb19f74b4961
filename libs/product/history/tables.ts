/** Table of the history in a service's schema (W10). */

/** SQL of the table, for a migration of each service that has one. */
export function historyTable(schema: string): string[] {
  return [
    `create table ${schema}.history (
      id bigint generated always as identity,
      object_kind text not null,
      object_id bigint not null,
      object_key text,
      at timestamptz not null default clock_timestamp(),
      via text not null,
      actor_kind text,
      account_id integer,
      key_id text,
      action text not null,
      changes json not null,
      constraint history__id__primary primary key (id),
      constraint history__via__known check (via in ('api', 'console', 'cli', 'file', 'webhook')),
      constraint history__action__known check (action in ('create', 'update', 'delete'))
    )`,
    `create index history__object__index on ${schema}.history (object_kind, object_id, id)`,
    `create index history__object_key__index on ${schema}.history (object_kind, object_key, id) where object_key is not null`,
    `create index history__at__index on ${schema}.history (at)`,
    `comment on column ${schema}.history.object_key is 'slug or key of the object when it was changed; finds objects that were deleted'`,
    `comment on column ${schema}.history.account_id is 'no foreign key: entries outlive accounts'`,
  ];
}
