/**
 * Statements on service keys. A key has one secret, and up to two earlier secrets during rotation overlaps (K5, K10).
 */
import { type Sql, sql, statement, t } from '#libs/infrastructure/sql';
import { actorFieldsSql } from '../api-objects/index.ts';
import { bodyRow, listSql, pageParams } from '../lists/index.ts';

/** Builds the JSON of ServiceKey from a key row `k` and an account row `a`. */
const keySql = sql`json_build_object('id', k.id, 'name', k.name, 'account', json_build_object('id', a.id, 'email', a.email),
  'person_id', a.person_id, 'scopes', k.scopes, 'created_at', directory.iso_utc(k.created_at),
  'created_by', json_build_object('account_id', k.created_by_account_id, 'key_id', k.created_by_key_id),
  'expires_at', directory.iso_utc(k.expires_at), 'last_used_at', directory.iso_utc(k.last_used_at),
  'rotating_until', case when k.revoked_at is null and k.previous_until > clock_timestamp() then directory.iso_utc(k.previous_until) end,
  'revoked_at', directory.iso_utc(k.revoked_at))`;
const keysSql = sql`directory.service_keys k join directory.accounts a on a.id = k.account_id`;
const isAliveSql = sql`k.revoked_at is null and (k.expires_at is null or k.expires_at > statement_timestamp())`;

/** Null = keys of every account; otherwise keys of this account. */
const ownerParams = { ownerId: t.integer.nullable };

/** Returns the reply of `keys.verify`. Returns no row unless the token is valid. */
export const verifyKey = statement.maybeOne({
  name: 'keys.verify',
  params: { id: t.text, secretSha256: t.bytes },
  row: bodyRow,
  sql: ({ id, secretSha256 }) => sql`
    select json_build_object('actor', json_build_object(${actorFieldsSql('a')},
      'key', json_build_object('id', k.id, 'scopes', k.scopes)))::text as body
    from ${keysSql}
    where k.id = ${id} and ${isAliveSql} and a.is_active
      and (k.secret_sha256 = ${secretSha256}
        or (k.previous_sha256 = ${secretSha256} and k.previous_until > clock_timestamp())
        or (k.oldest_sha256 = ${secretSha256} and k.oldest_until > clock_timestamp()))`,
});

export const listKeys = statement.one({
  name: 'keys.list',
  params: { ...ownerParams, accountId: t.integer.nullable, ...pageParams },
  row: bodyRow,
  sql: ({ ownerId, accountId, limit, offset }) =>
    listSql({
      from: sql`directory.service_keys k`,
      where: sql`(${ownerId} is null or k.account_id = ${ownerId}) and (${accountId} is null or k.account_id = ${accountId})`,
      key: sql`k.id`,
      order: sql`k.created_at desc, k.id`,
      itemFrom: sql`directory.service_keys k on k.id = page.key join directory.accounts a on a.id = k.account_id`,
      item: keySql,
      limit,
      offset,
      fields: ['items', 'count'],
    }),
});

/** Returns one key as `{key}`. */
export const getKey = statement.maybeOne({
  name: 'keys.get',
  params: { id: t.text, ...ownerParams },
  row: bodyRow,
  sql: ({ id, ownerId }) => sql`
    select json_build_object('key', ${keySql})::text as body from ${keysSql} where k.id = ${id} and (${ownerId} is null or k.account_id = ${ownerId})`,
});

/** Locks a key until the transaction ends. */
export const lockKey = statement.maybeOne({
  name: 'keys.lock',
  params: { id: t.text, ...ownerParams },
  row: { scopes: t.text.array, is_alive: t.boolean },
  sql: ({ id, ownerId }) => sql`
    select k.scopes, ${isAliveSql} as is_alive from directory.service_keys k
    where k.id = ${id} and (${ownerId} is null or k.account_id = ${ownerId}) for no key update`,
});

/** Locks an account against deactivation and new keys until the transaction ends. */
export const lockAccount = statement.maybeOne({
  name: 'keys.lock-account',
  params: { accountId: t.integer },
  row: { is_active: t.boolean },
  sql: ({ accountId }) => sql`select is_active from directory.accounts where id = ${accountId} for no key update`,
});

export const countKeys = statement.one({
  name: 'keys.count',
  params: { accountId: t.integer },
  row: { count: t.bigint },
  sql: ({ accountId }) =>
    sql`select count(*) from directory.service_keys where account_id = ${accountId} and revoked_at is null`,
});

export const insertKey = statement.none({
  name: 'keys.insert',
  params: {
    id: t.text,
    secretSha256: t.bytes,
    name: t.text,
    accountId: t.integer,
    scopes: t.text.array,
    expiresAt: t.instant.nullable,
    createdByAccountId: t.integer.nullable,
    createdByKeyId: t.text.nullable,
  },
  sql: ({ id, secretSha256, name, accountId, scopes, expiresAt, createdByAccountId, createdByKeyId }) => sql`
    insert into directory.service_keys (id, secret_sha256, name, account_id, scopes, expires_at, created_by_account_id, created_by_key_id)
    values (${id}, ${secretSha256}, ${name}, ${accountId}, ${scopes}, ${expiresAt}, ${createdByAccountId}, ${createdByKeyId})`,
});

/**
 * Rotates the secret of a key. An older secret never outlives a newer one, so an overlap of 0 ends all older secrets
 * (K10).
 */
export const rotateKey = statement.none({
  name: 'keys.rotate',
  params: { id: t.text, secretSha256: t.bytes, overlapSeconds: t.integer },
  sql: ({ id, secretSha256, overlapSeconds }) => {
    const until: Sql = sql`clock_timestamp() + make_interval(secs => ${overlapSeconds})`;
    return sql`
    update directory.service_keys set secret_sha256 = ${secretSha256}, previous_sha256 = secret_sha256, previous_until = ${until},
      oldest_sha256 = previous_sha256, oldest_until = case when previous_sha256 is not null then least(previous_until, ${until}) end
    where id = ${id}`;
  },
});

export const revokeKey = statement.maybeOne({
  name: 'keys.revoke',
  params: { id: t.text },
  row: { id: t.text },
  sql: ({ id }) =>
    sql`update directory.service_keys set revoked_at = clock_timestamp() where id = ${id} and revoked_at is null returning id`,
});

export const revokeAccountKeys = statement.many({
  name: 'keys.revoke-accounts',
  params: { accountIds: t.integer.array },
  row: { id: t.text },
  sql: ({ accountIds }) => sql`
    update directory.service_keys set revoked_at = clock_timestamp()
    where account_id = any(${accountIds}) and revoked_at is null returning id`,
});

/** Returns the active keys of accounts whose actor may have changed. */
export const findAccountKeys = statement.many({
  name: 'keys.find-of-accounts',
  params: { accountIds: t.integer.array },
  row: { id: t.text },
  sql: ({ accountIds }) =>
    sql`select k.id from directory.service_keys k where k.account_id = any(${accountIds}) and ${isAliveSql}`,
});

/** Counts the active keys that expire within `days` days. */
export const countExpiringKeys = statement.one({
  name: 'keys.count-expiring',
  params: { days: t.integer },
  row: { count: t.bigint },
  sql: ({ days }) => sql`
    select count(*) from directory.service_keys
    where revoked_at is null and expires_at > statement_timestamp() and expires_at <= statement_timestamp() + make_interval(days => ${days})`,
});

/**
 * Stores last-used times that are at least `stepSeconds` newer than the stored times. Rows are updated in the order of
 * their ids.
 */
export const writeUses = statement.none({
  name: 'keys.write-uses',
  params: { ids: t.text.array, usedAt: t.instant.array, stepSeconds: t.integer },
  sql: ({ ids, usedAt, stepSeconds }) => sql`
    with due as (
      select k.id, u.used_at from directory.service_keys k join unnest(${ids}, ${usedAt}) as u(id, used_at) on u.id = k.id
      where k.last_used_at is null or k.last_used_at <= u.used_at - make_interval(secs => ${stepSeconds})
      order by k.id for no key update of k
    )
    update directory.service_keys k set last_used_at = due.used_at from due where k.id = due.id`,
});
