/**
 * Statements that list the holons that the caller can see, and check visibility for other services
 * (rules/holons#holons; D18f, D47, D47a, D48, D49).
 */
import { type Sql, sql, type SqlPart, statement, t } from '#libs/infrastructure/sql';
import {
  afterParams,
  bodyRow,
  containsInAnySql,
  containsSql,
  gramsOf,
  type ListSql,
  listSql,
  longGramsOf,
  pageParams,
  recordOrders,
  type RecordSort,
} from '../../lists/index.ts';
import { coveredHolonsSql, holonListItemSql, holonVisibleSql, viewerParams } from '../../visibility/index.ts';

/** Parameters of holon lists. Null for text, class or parent means no filter. */
const listParams = {
  text: t.text.nullable,
  class: t.text.nullable,
  parent: t.integer.nullable,
  ...afterParams,
  ...pageParams,
  ...viewerParams,
};
type ListParams = Readonly<Record<keyof typeof listParams, SqlPart>>;

/** Returns SQL that matches the class with this slug and its descendants, including retired classes. */
const inSubtreeSql = (alias: string, params: ListParams): Sql => {
  const objectClass = sql.id(alias);
  return sql`exists (select from directory.object_classes requested where requested.slug = ${params.class}
    and (${objectClass}.id = requested.id or requested.id = any(${objectClass}.ancestor_ids)))`;
};
const classIdsSql = (params: ListParams): Sql =>
  sql`h.class_id = any(array(select k.id from directory.object_classes k where ${inSubtreeSql('k', params)}))`;

const from = sql`directory.holons h join directory.object_classes c on c.id = h.class_id`;

/** Returns the SQL of the list's filter. @param frequent whether a short text occurs in many names or descriptions */
function whereSql(params: ListParams, frequent: boolean): Sql {
  const { text, parent, createdAfter, updatedAfter } = params;
  const contains = (column: Sql): Sql =>
    frequent
      ? containsSql(column, text, gramsOf('h'), sql`true`)
      : containsInAnySql(column, text, gramsOf('h'), longGramsOf.holons('h'));
  return sql`(${text} is null or ${contains(sql`h.search_name`)} or ${contains(sql`h.search_description`)})
  and (${params.class} is null or ${classIdsSql(params)})
  and (${parent} is null or (h.parent_id = ${parent} and exists (
    select from directory.holons p join directory.object_classes k on k.id = p.class_id where p.id = ${parent} and ${holonVisibleSql('p', 'k', params)})))
  and (${createdAfter} is null or h.created_at > ${createdAfter}) and (${updatedAfter} is null or h.updated_at > ${updatedAfter})
  and ${holonVisibleSql('h', 'c', params)}`;
}

/**
 * Counts the matches. With a class as the only filter, the count of public classes is read from maintained totals;
 * private classes are included in these totals only for callers with access to everything. Private holons covered by
 * team authority are added.
 */
const countSql = (params: ListParams): Sql => sql`
  select case when ${params.text} is null and ${params.parent} is null and ${params.createdAfter} is null and ${params.updatedAfter} is null
  then (select coalesce(sum(directory.usage_count('class_holons', k.id)), 0)::bigint
        from directory.object_classes k where ${inSubtreeSql('k', params)} and (not k.effective_private or ${params.seesAll}))
    + (with recursive ${coveredHolonsSql('covered', params)}
       select count(*) from covered join directory.holons h on h.id = covered.id where ${classIdsSql(params)})
  else (select count(*) from ${from} where ${whereSql(params, false)}) end as count`;

/**
 * Reads each public class in the order of its index. Of private classes it reads only holons covered by the caller's
 * authority, so that no invisible rows are read.
 */
const firstOfClassSql = (sort: RecordSort, params: ListParams): Sql => sql`(
    select of_class.* from directory.object_classes params cross join lateral (
      select h.* from ${from} where h.class_id = params.id and ${whereSql(params, true)}
      order by ${recordOrders[sort]('h')} limit ${params.limit}::bigint + ${params.offset}::bigint) as of_class
    where ${inSubtreeSql('params', params)} and (not params.effective_private or ${params.seesAll})
    union all (
      with recursive ${coveredHolonsSql('covered', params)}
      select h.* from covered join directory.holons h on h.id = covered.id join directory.object_classes c on c.id = h.class_id
      where ${whereSql(params, true)})
  ) as h`;

/** How a list finds its matches. */
type ListSource = Pick<ListSql, 'from' | 'where' | 'count' | 'materializeMatches'>;

function lists(name: string, read: (params: ListParams, sort: RecordSort) => ListSource) {
  const list = (sort: RecordSort) =>
    statement.maybeOne({
      name: `v1.holons.${name}-${sort}`,
      planned: 'each-call',
      params: listParams,
      row: bodyRow,
      sql: (params) =>
        listSql({
          ...read(params, sort),
          key: sql`h.id`,
          order: recordOrders[sort]('h'),
          itemFrom: sql`directory.holons h on h.id = page.key join directory.object_classes c on c.id = h.class_id`,
          item: holonListItemSql('h', 'c', params),
          limit: params.limit,
          offset: params.offset,
          exists: sql`(${params.class} is null or exists (select from directory.object_classes params where params.slug = ${params.class} and params.is_active))`,
          extra: { query: params.text, class: params.class, parent: params.parent },
          fields: ['limit', 'offset', 'count', 'has_more', 'items'],
        }),
    });
  return { name: list('name'), latest: list('latest'), updated: list('updated') };
}

/** Lists the holons that contain a rare text. Returns no row if the class is not active. */
export const findHolons = lists('find', (params) => ({
  from,
  where: whereSql(params, false),
  materializeMatches: true,
}));
/** Lists holons like `findHolons`, for a class without a text or with an empty or frequent short text. */
export const listHolonsOfClass = lists('list-of-class', (params, sort) => ({
  from: firstOfClassSql(sort, params),
  where: sql`true`,
  count: countSql(params),
}));
/** Lists holons like `findHolons`, for an empty or frequent short text. */
export const listHolons = lists('list', (params) => ({ from, where: whereSql(params, true), count: countSql(params) }));

/** Returns the reply of `holons.covered` for given holons. It searches from each holon upwards. */
export const findCoveredHolons = statement.one({
  name: 'holons.find-covered',
  params: { accountId: t.integer, ids: t.integer.array },
  row: bodyRow,
  sql: ({ accountId, ids }) => sql`
    select json_build_object('ids', coalesce(json_agg(distinct given.id), '[]'))::text as body
    from unnest(${ids}) as given(id) where directory.has_team_authority(given.id, ${accountId})`,
});

/** Returns the reply of `holons.covered` for all holons. It searches downwards from the account's holons. */
export const listCoveredHolons = statement.one({
  name: 'holons.list-covered',
  params: { accountId: t.integer },
  row: bodyRow,
  sql: ({ accountId }) => sql`
    with recursive covered as (
      select team.holon_id as id from directory.team_authority team where team.account_id = ${accountId} and team.is_active
      union select below.id from directory.holons below join covered on below.parent_id = covered.id
    )
    select json_build_object('ids', coalesce(json_agg(covered.id order by covered.id), '[]'))::text as body
    from covered`,
});

/** Returns the reply of `holons.subtree`. */
export const getHolonSubtree = statement.one({
  name: 'holons.subtree',
  params: { slug: t.text, ...viewerParams },
  row: bodyRow,
  sql: ({ slug, ...viewer }) => sql`
    with recursive root as (
      select h.id, h.class_id from directory.holons h join directory.object_classes c on c.id = h.class_id
      where h.slug = ${slug} and ${holonVisibleSql('h', 'c', viewer)}
    ), tree as (
      select id, class_id from root
      union select h.id, h.class_id from directory.holons h join tree on h.parent_id = tree.id
    )
    select json_build_object('found', exists (select from root), 'holon_id', (select id from root), 'ids', coalesce((
      select json_agg(h.id order by h.id)
      from tree h join directory.object_classes c on c.id = h.class_id
      where ${holonVisibleSql('h', 'c', viewer)}), '[]'))::text as body`,
});

/** Returns the reply of `holons.visible`. The statement itself checks whether the account sees everything. */
export const getVisibleHolons = statement.one({
  name: 'holons.visible',
  params: { ids: t.integer.array, slugs: t.text.array, accountId: t.integer.nullable },
  row: bodyRow,
  sql: ({ ids, slugs, accountId }) => sql`
    select json_build_object('items', coalesce(json_agg(json_build_object('id', h.id, 'slug', h.slug) order by h.id), '[]'))::text as body
   from (select id from directory.holons where id = any(${ids})
         union select id from directory.holons where slug = any(${slugs})) as requested
   join directory.holons h on h.id = requested.id join directory.object_classes c on c.id = h.class_id
   where ${holonVisibleSql('h', 'c', { seesAll: sql`false`, accountId })}
     or exists (select from directory.accounts a where a.id = ${accountId} and a.is_active and (a.superuser or a.global_editor))`,
});
