/**
 * Tables of the audit log in a service's schema (A1, A2; docs/adr/audit-log-hash-chain.md). `audit_log` is append-only:
 * the service can insert and read, only retention deletes. `audit_head` has one row: the end of the chain (its lock
 * serializes appends), the last removed entry, and the result of the last verification.
 */

/** Returns the SQL that creates the tables, for a migration of each service. */
export function auditTables(schema: string): string[] {
  const zeros = `'\\x${'00'.repeat(32)}'`;
  return [
    `create table ${schema}.audit_log (
      id bigint not null,
      at timestamptz not null,
      actor_kind text not null,
      account_id integer,
      key_id text,
      action text not null,
      target_type text,
      target_id text,
      changes json,
      request_id text,
      ip text,
      outcome text not null,
      previous_hash bytea not null,
      hash bytea not null,
      constraint audit_log__id__primary primary key (id),
      constraint audit_log__id__positive check (id > 0),
      constraint audit_log__actor_kind__known check (actor_kind in ('account', 'key', 'cli', 'shared')),
      constraint audit_log__outcome__known check (outcome in ('ok', 'refused'))
    )`,
    `create index audit_log__at_id__index on ${schema}.audit_log (at, id)`,
    `create index audit_log__account_id__index on ${schema}.audit_log (account_id, at, id) where account_id is not null`,
    `create index audit_log__action__index on ${schema}.audit_log (action, at, id)`,
    `create index audit_log__target__index on ${schema}.audit_log (target_type, target_id, at, id) where target_id is not null`,
    `comment on column ${schema}.audit_log.account_id is 'no foreign key: entries outlive accounts'`,
    `comment on column ${schema}.audit_log.changes is 'json, not jsonb: the hash is of its text'`,
    `create table ${schema}.audit_head (
      one boolean not null default true,
      last_id bigint not null default 0,
      last_at timestamptz not null default clock_timestamp(),
      last_hash bytea not null default ${zeros},
      anchor_id bigint not null default 0,
      anchor_hash bytea not null default ${zeros},
      verified_at timestamptz,
      broken_id bigint,
      constraint audit_head__one__primary primary key (one),
      constraint audit_head__one__only check (one)
    )`,
    `insert into ${schema}.audit_head default values`,
    `comment on column ${schema}.audit_head.anchor_id is 'the last entry that retention removed'`,
    `comment on column ${schema}.audit_head.broken_id is 'the first broken entry that the last verification found'`,
  ];
}

/** Rights of a service's role, after the grants on its schema: `%1$I` is the role, `%2$I` the schema. */
export const auditRights: readonly string[] = [
  'revoke update, delete on %2$I.audit_log from %1$I',
  'revoke insert, update, delete on %2$I.audit_head from %1$I',
  'grant update (last_id, last_at, last_hash) on %2$I.audit_head to %1$I',
];

/** Rights of the role that verifies audit logs and applies retention, in any schema. */
export const auditRetentionRights: readonly string[] = [
  'grant connect on database %3$I to %1$I',
  'grant usage on schema %2$I to %1$I',
  'grant select, delete on %2$I.audit_log to %1$I',
  'grant select, update (anchor_id, anchor_hash, verified_at, broken_id) on %2$I.audit_head to %1$I',
];
