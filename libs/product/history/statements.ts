/** SQL of the history, the same in the schema of every service that has one. */
import { type Sql, sql, type SqlPart, statement, t } from '#libs/infrastructure/sql';

export const insertEntries = statement.none({
  name: 'history.insert',
  params: { entries: t.text },
  sql: ({ entries }) => sql`
    insert into history (object_kind, object_id, object_key, via, actor_kind, account_id, key_id, action, changes)
    select object_kind, object_id, object_key, via, actor_kind, account_id, key_id, action, changes
    from json_to_recordset(${entries}::json) as e(object_kind text, object_id bigint, object_key text, via text, actor_kind text, account_id integer,
      key_id text, action text, changes json)`,
});

export const historyParams = { kind: t.text, objectId: t.bigint, before: t.bigint.nullable, limit: t.integer };

/**
 * The reply `{items, next}` of one object's history, newest first.
 * @param actorName name of the person of account `e.account_id`, or null
 * @param changes what the reader may see of `e.changes`
 */
export function historyPageSql(
  { kind, objectId, before, limit }: Readonly<Record<keyof typeof historyParams, SqlPart>>,
  actorName: Sql,
  changes: Sql = sql`e.changes`,
): Sql {
  return sql`
    with page as (
      select * from history where object_kind = ${kind} and object_id = ${objectId} and (${before}::bigint is null or id < ${before})
      order by id desc limit ${limit} + 1
    ), shown as (select * from page order by id desc limit ${limit})
    select json_build_object(
      'items', coalesce((select json_agg(json_build_object('at', iso_utc(e.at),
        'actor', case when e.actor_kind is not null then json_build_object('kind', e.actor_kind, 'name', ${actorName},
          'account_id', e.account_id, 'key_id', e.key_id) end,
        'via', e.via, 'changes', ${changes}) order by e.id desc) from shown e), '[]'),
      'next', case when (select count(*) from page) > ${limit} then (select min(id)::text from shown) end)::text as body`;
}

/** A page of a service that has no accounts: names are null. */
export const listHistory = statement.one({
  name: 'history.list',
  params: historyParams,
  row: { body: t.text },
  sql: (params) => historyPageSql(params, sql`null::text`),
});

/** Removes the oldest entries of at least this age; returns how many. */
export const removeOldEntries = statement.one({
  name: 'history.remove-old',
  params: { days: t.integer, limit: t.integer },
  row: { count: t.integer },
  sql: ({ days, limit }) => sql`
    with removed as (
      delete from history where id in (select id from history where at < statement_timestamp() - make_interval(days => ${days}) order by at limit ${limit}) returning id
    ) select count(*)::integer as count from removed`,
});

/** Returns all entries of the objects that have one that is not from the file, oldest first. */
export const listEditEntries = statement.many({
  name: 'history.list-edits',
  params: { kind: t.text, objectIds: t.bigint.array },
  row: { objectId: t.bigint, isFile: t.boolean, changes: t.text },
  sql: ({ kind, objectIds }) => sql`
    select h.object_id as "objectId", h.via = 'file' as "isFile", h.changes::text as changes from history h
    where h.object_kind = ${kind} and h.object_id = any(${objectIds}) and exists (
      select from history o where o.object_kind = ${kind} and o.object_id = h.object_id and o.via <> 'file')
    order by h.object_id, h.id`,
});

/** Returns the keys whose newest entry is a deletion that is not from the file. */
export const listRemovedKeys = statement.many({
  name: 'history.list-removed-keys',
  params: { kind: t.text, keys: t.text.array },
  row: { key: t.text },
  sql: ({ kind, keys }) => sql`
    select k.key from unnest(${keys}) as k(key) cross join lateral (
      select action, via from history h where h.object_kind = ${kind} and h.object_key = k.key order by h.id desc limit 1
    ) as newest where newest.action = 'delete' and newest.via <> 'file'`,
});
