/**
 * SQL that creates the table of idempotency records in a service's schema, for a migration of each service that has idempotent operations. The
 * account has no foreign key, since it may belong to another service.
 */
export function idempotencyRecordsTable(schema: string): string[] {
  return [
    `create table ${schema}.kept_answers (
      account_id integer not null,
      operation text not null,
      key text not null,
      fingerprint bytea not null,
      refused boolean not null,
      outcome text,
      etag text,
      body text not null,
      size integer not null,
      person_ids integer[] not null,
      expires_at timestamptz not null,
      constraint kept_answers__account_id_operation_key__primary primary key (account_id, operation, key)
    )`,
    `create index kept_answers__expires_at__index on ${schema}.kept_answers (expires_at)`,
    `create index kept_answers__account_id_expires_at__index on ${schema}.kept_answers (account_id, expires_at) include (size)`,
    `comment on column ${schema}.kept_answers.fingerprint is 'SHA-256 of the request, by value'`,
    `comment on column ${schema}.kept_answers.person_ids is 'who is named in request or answer, for erasures'`,
  ];
}
