/** SQL of the audit log, identical in the schema of every service. */
import { type Sql, sql, type SqlPart, statement, t } from '#libs/infrastructure/sql';

const written = {
  actorKind: t.text,
  accountId: t.integer.nullable,
  keyId: t.text.nullable,
  action: t.text,
  targetType: t.text.nullable,
  targetId: t.text.nullable,
  /** JSON. */
  changes: t.text.nullable,
  requestId: t.text.nullable,
  ip: t.text.nullable,
  outcome: t.text,
};

/**
 * Appends an entry. Locks the head of the chain until the commit, so that entries are appended one by one with
 * non-decreasing instants. Hashes the same text as `hashLink`.
 */
export const appendEntry = statement.one({
  name: 'audit.append',
  params: written,
  row: { id: t.bigint },
  sql: ({ actorKind, accountId, keyId, action, targetType, targetId, changes, requestId, ip, outcome }) => sql`
    with head as materialized (select last_id, last_at, last_hash from audit_head for update),
    next as materialized (
      select last_id + 1 as id, greatest(clock_timestamp(), last_at) as at, last_hash as previous_hash from head
    ), link as materialized (
      select id, at, previous_hash, sha256(convert_to(json_build_array(encode(previous_hash, 'hex'), id, iso_utc(at), ${actorKind}, ${accountId},
        ${keyId}, ${action}, ${targetType}, ${targetId}, ${changes}, ${requestId}, ${ip}, ${outcome})::text, 'UTF8')) as hash
      from next
    ), moved as (
      update audit_head set last_id = link.id, last_at = link.at, last_hash = link.hash from link
    )
    insert into audit_log (id, at, actor_kind, account_id, key_id, action, target_type, target_id, changes, request_id, ip, outcome, previous_hash, hash)
    select id, at, ${actorKind}, ${accountId}, ${keyId}, ${action}, ${targetType}, ${targetId}, ${changes}::json, ${requestId}, ${ip}, ${outcome},
      previous_hash, hash from link
    returning id`,
});

const listed = sql`'id', id, 'at', iso_utc(at), 'actor', json_build_object('kind', actor_kind, 'account_id', account_id, 'key_id', key_id),
  'action', action, 'target', case when target_type is not null then json_build_object('type', target_type, 'id', target_id) end,
  'changes', changes, 'request_id', request_id, 'ip', ip, 'outcome', outcome`;

const is = (column: string, value: SqlPart): Sql => sql`(${value} is null or ${sql.id(column)} = ${value})`;

/**
 * Returns a page of entries, newest first; a null parameter does not filter. The plan is made for each call, because
 * the best index depends on the filters.
 */
export const listEntries = statement.one({
  name: 'audit.list',
  planned: 'each-call',
  params: {
    accountId: t.integer.nullable,
    action: t.text.nullable,
    targetType: t.text.nullable,
    targetId: t.text.nullable,
    from: t.instant.nullable,
    to: t.instant.nullable,
    beforeAt: t.instant.nullable,
    beforeId: t.bigint.nullable,
    limit: t.integer,
  },
  row: { items: t.text },
  sql: ({ accountId, action, targetType, targetId, from, to, beforeAt, beforeId, limit }) => sql`
    select coalesce(json_agg(item), '[]')::text as items from (
      select json_build_object(${listed}) as item from audit_log
      where ${is('account_id', accountId)} and ${is('action', action)} and ${is('target_type', targetType)} and ${is('target_id', targetId)}
        and (${from} is null or at >= ${from}) and (${to} is null or at < ${to})
        and (${beforeAt} is null or (at, id) < (${beforeAt}, ${beforeId}))
      order by at desc, id desc limit ${limit}
    ) page`,
});

/** Returns the links after an id and both ends of the chain, from one snapshot. */
export const readLinks = statement.one({
  name: 'audit.read',
  params: { after: t.bigint, limit: t.integer },
  row: { body: t.text },
  sql: ({ after, limit }) => sql`
    select json_build_object('items', coalesce((
        select json_agg(item) from (
          select json_build_object(${listed}, 'previous_hash', encode(previous_hash, 'hex'), 'hash', encode(hash, 'hex')) as item
          from audit_log where id > ${after} order by id limit ${limit}) page), '[]'),
      'anchor', json_build_object('id', anchor_id, 'hash', encode(anchor_hash, 'hex')),
      'head', json_build_object('id', last_id, 'hash', encode(last_hash, 'hex')))::text as body
    from audit_head`,
});

/** Returns the result and age of the last verification; if there was none, the age of the oldest entry. */
export const findVerification = statement.one({
  name: 'audit.verification',
  row: { broken: t.boolean, age_seconds: t.double.nullable },
  sql: () => sql`
    select broken_id is not null as broken,
      extract(epoch from clock_timestamp() - coalesce(verified_at, (select min(at) from audit_log)))::double precision as age_seconds
    from audit_head`,
});

/** Stores the result of a verification. */
export const storeVerification = statement.none({
  name: 'audit.keep-verification',
  params: { brokenId: t.bigint.nullable },
  sql: ({ brokenId }) => sql`update audit_head set verified_at = clock_timestamp(), broken_id = ${brokenId}`,
});

/**
 * Removes up to `limit` entries older than `days` days from the start of the chain. The last removed entry becomes the
 * anchor. Removal stops at the first younger entry, even if later entries have older instants.
 */
export const removeOldEntries = statement.one({
  name: 'audit.remove-old',
  params: { days: t.integer, limit: t.integer },
  row: { removed: t.integer },
  sql: ({ days, limit }) => sql`
    with head as materialized (select anchor_id from audit_head for update),
    kept as (
      select id from audit_log where at >= statement_timestamp() - make_interval(days => ${days}) order by at, id limit 1
    ), old as (
      select id, hash from audit_log
      where id > (select anchor_id from head) and id < (select coalesce(min(id), 9223372036854775807) from kept) order by id limit ${limit}
    ), gone as (
      delete from audit_log l using old where l.id = old.id returning l.id, l.hash
    ), moved as (
      update audit_head set anchor_id = last.id, anchor_hash = last.hash from (select id, hash from gone order by id desc limit 1) last
    )
    select count(*)::integer as removed from gone`,
});
