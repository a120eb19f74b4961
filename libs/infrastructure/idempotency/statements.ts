/** SQL of idempotency records, identical in the schema of every service. */
import { type DeclaredStatement, type Sql, sql, statement, t } from '#libs/infrastructure/sql';

/** The table has an older name; both releases of a rolling update use it. */
const idempotencyRecords = sql.id('kept_answers');

const recordKey = { accountId: t.integer, operation: t.text, key: t.text };

/**
 * Tries to acquire the lock of a key until the end of the transaction, without waiting. Both releases of a rolling
 * update must hash the same text.
 */
export const tryLock = statement.one({
  name: 'idempotency.try-lock',
  params: recordKey,
  row: { locked: t.boolean },
  sql: ({ accountId, operation, key }) => sql`
    select pg_try_advisory_xact_lock(hashtextextended(json_build_array('kept-answer', ${accountId}, ${operation}, ${key})::text, 0)) as locked`,
});

export const findRecord = statement.maybeOne({
  name: 'idempotency.find',
  params: recordKey,
  row: { fingerprint: t.bytes, refused: t.boolean, outcome: t.text.nullable, etag: t.text.nullable, body: t.text },
  sql: ({ accountId, operation, key }) => sql`
    select fingerprint, refused, outcome, etag, body from ${idempotencyRecords}
    where account_id = ${accountId} and operation = ${operation} and key = ${key} and expires_at > statement_timestamp()`,
});

/** Inserts a record for the holder of the lock. Replaces an expired record. */
export const insertRecord = statement.none({
  name: 'idempotency.insert',
  params: {
    ...recordKey,
    fingerprint: t.bytes,
    refused: t.boolean,
    outcome: t.text.nullable,
    etag: t.text.nullable,
    body: t.text,
    personIds: t.integer.array,
    hours: t.integer,
  },
  sql: ({ accountId, operation, key, fingerprint, refused, outcome, etag, body, personIds, hours }) => sql`
    insert into ${idempotencyRecords} (account_id, operation, key, fingerprint, refused, outcome, etag, body, size, person_ids, expires_at)
    values (${accountId}, ${operation}, ${key}, ${fingerprint}, ${refused}, ${outcome}, ${etag}, ${body}, octet_length(${body}), ${personIds},
      clock_timestamp() + make_interval(hours => ${hours}))
    on conflict (account_id, operation, key) do update
    set fingerprint = excluded.fingerprint, refused = excluded.refused, outcome = excluded.outcome, etag = excluded.etag, body = excluded.body,
      size = excluded.size, person_ids = excluded.person_ids, expires_at = excluded.expires_at`,
});

export const removeExpired = removeExpiredFrom('idempotency.remove-expired', idempotencyRecords);

/** Removes the oldest records of accounts above `maxBytes`; each row counts `rowBytes` in addition to its body. */
export const removeExcess = statement.none({
  name: 'idempotency.remove-excess',
  params: { maxBytes: t.bigint, rowBytes: t.integer },
  sql: ({ maxBytes, rowBytes }) => sql`
    with greedy as materialized (
      select account_id from ${idempotencyRecords} group by account_id having sum(size + ${rowBytes}) > ${maxBytes}
    )
    delete from ${idempotencyRecords} where ctid = any(array(
      select place from greedy cross join lateral (
        select ctid as place, sum(size + ${rowBytes}) over (order by expires_at desc, ctid) as taken
        from ${idempotencyRecords} r where r.account_id = greedy.account_id) as ranked
      where taken > ${maxBytes}))`,
});

/** Removes records that reference the person, and records of the person's accounts. */
export const removeRecordsOfPerson = statement.none({
  name: 'idempotency.remove-of-person',
  params: { personId: t.integer, accountIds: t.integer.array },
  sql: ({ personId, accountIds }) =>
    sql`delete from ${idempotencyRecords} where ${personId} = any(person_ids) or account_id = any(${accountIds})`,
});

interface KeyTable {
  /** Prefix for the names of the statements. */
  readonly name: string;
  /** Table with the primary key (scope, `operation`, `key`) and the column `expires_at`. */
  readonly table: string;
  /** Column with the id of the row that a key belongs to. */
  readonly scope: string;
}

export type KeyStatements = ReturnType<typeof keyStatements>;

/** Returns the statements on a table of keys without responses, see `runOncePerKey`. */
// oxlint-disable-next-line typescript/explicit-module-boundary-types
export function keyStatements(declared: KeyTable) {
  const table = sql.id(declared.table);
  const scope = sql.id(declared.scope);
  const params = { scopeId: t.integer, operation: t.text, key: t.text };
  return {
    find: statement.maybeOne({
      name: `${declared.name}.find`,
      params,
      row: { key: t.text },
      sql: ({ scopeId, operation, key }) => sql`
        select key from ${table}
        where ${scope} = ${scopeId} and operation = ${operation} and key = ${key} and expires_at > statement_timestamp()`,
    }),
    insert: statement.none({
      name: `${declared.name}.insert`,
      params: { ...params, hours: t.integer },
      sql: ({ scopeId, operation, key, hours }) => sql`
        insert into ${table} (${scope}, operation, key, expires_at)
        values (${scopeId}, ${operation}, ${key}, clock_timestamp() + make_interval(hours => ${hours}))
        on conflict (${scope}, operation, key) do update set expires_at = excluded.expires_at`,
    }),
    removeExpired: removeExpiredFrom(`${declared.name}.remove-expired`, table),
  };
}

type RemoveExpired = DeclaredStatement<{ limit: typeof t.integer }, { count: typeof t.integer }, { count: number }>;

/** Returns a statement that removes expired rows and skips rows that another process is removing. */
function removeExpiredFrom(name: string, table: Sql): RemoveExpired {
  return statement.one({
    name,
    params: { limit: t.integer },
    row: { count: t.integer },
    sql: ({ limit }) => sql`
      with removed as (
        delete from ${table} where ctid = any(array(
          select ctid from ${table} where expires_at <= statement_timestamp() limit ${limit} for update skip locked))
        returning 1)
      select count(*)::integer as count from removed`,
  });
}

/**
 * Returns the SQL that creates the table of idempotency records in a service's schema, for a migration of each service
 * with idempotent operations. The account has no foreign key, because it may belong to another service.
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
