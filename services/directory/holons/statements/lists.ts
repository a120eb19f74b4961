/** Lists of holons that the caller can see, and visibility checks for other services (rules/holons#holons; D18f, D47, D47a, D48, D49). */
import { type Sql, sql, type SqlPart, statement, t } from '#libs/sql';
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

/** Text, class and parent may be null. */
const params = {
  text: t.text.nullable,
  class: t.text.nullable,
  parent: t.integer.nullable,
  ...afterParams,
  ...pageParams,
  ...viewerParams,
};
type Asked = Readonly<Record<keyof typeof params, SqlPart>>;

/** The class with this slug and every class below it, retired ones too. */
const inSubtreeSql = (alias: string, asked: Asked): Sql => {
  const objectClass = sql.id(alias);
  return sql`exists (select from directory.object_classes wanted where wanted.slug = ${asked.class}
    and (${objectClass}.id = wanted.id or wanted.id = any(${objectClass}.ancestor_ids)))`;
};
const classIdsSql = (asked: Asked): Sql =>
  sql`h.class_id = any(array(select k.id from directory.object_classes k where ${inSubtreeSql('k', asked)}))`;

const from = sql`directory.holons h join directory.object_classes c on c.id = h.class_id`;

/** @param frequent says that a short text is in many names or descriptions */
function whereSql(asked: Asked, frequent: boolean): Sql {
  const { text, parent, createdAfter, updatedAfter } = asked;
  const contains = (column: Sql): Sql =>
    frequent ? containsSql(column, text, gramsOf('h'), sql`true`) : containsInAnySql(column, text, gramsOf('h'), longGramsOf.holons('h'));
  return sql`(${text} is null or ${contains(sql`h.search_name`)} or ${contains(sql`h.search_description`)})
  and (${asked.class} is null or ${classIdsSql(asked)})
  and (${parent} is null or (h.parent_id = ${parent} and exists (
    select from directory.holons p join directory.object_classes k on k.id = p.class_id where p.id = ${parent} and ${holonVisibleSql('p', 'k', asked)})))
  and (${createdAfter} is null or h.created_at > ${createdAfter}) and (${updatedAfter} is null or h.updated_at > ${updatedAfter})
  and ${holonVisibleSql('h', 'c', asked)}`;
}

/**
 * Matches of a class alone are not counted one by one: of public classes, and of private ones for those who see all, the numbers of
 * holons are kept; of private ones that team authority covers, those are counted that it covers.
 */
const countSql = (asked: Asked): Sql => sql`
  select case when ${asked.text} is null and ${asked.parent} is null and ${asked.createdAfter} is null and ${asked.updatedAfter} is null
  then (select coalesce(sum(directory.usage_count('class_holons', k.id)), 0)::bigint
        from directory.object_classes k where ${inSubtreeSql('k', asked)} and (not k.effective_private or ${asked.seesAll}))
    + (with recursive ${coveredHolonsSql('covered', asked)}
       select count(*) from covered join directory.holons h on h.id = covered.id where ${classIdsSql(asked)})
  else (select count(*) from ${from} where ${whereSql(asked, false)}) end as count`;

/**
 * The first of each public class in the order of an index of its own; of private classes those that the caller's authority covers, so that
 * nothing invisible is read.
 */
const firstOfClassSql = (sort: RecordSort, asked: Asked): Sql => sql`(
    select of_class.* from directory.object_classes asked cross join lateral (
      select h.* from ${from} where h.class_id = asked.id and ${whereSql(asked, true)}
      order by ${recordOrders[sort]('h')} limit ${asked.limit}::bigint + ${asked.offset}::bigint) as of_class
    where ${inSubtreeSql('asked', asked)} and (not asked.effective_private or ${asked.seesAll})
    union all (
      with recursive ${coveredHolonsSql('covered', asked)}
      select h.* from covered join directory.holons h on h.id = covered.id join directory.object_classes c on c.id = h.class_id
      where ${whereSql(asked, true)})
  ) as h`;

/** How matches are come by. */
type Reading = Pick<ListSql, 'from' | 'where' | 'count' | 'materializeMatches'>;

function lists(name: string, read: (asked: Asked, sort: RecordSort) => Reading) {
  const list = (sort: RecordSort) =>
    statement.maybeOne({
      name: `v1.holons.${name}-${sort}`,
      planned: 'each-call',
      params,
      row: bodyRow,
      sql: (asked) =>
        listSql({
          ...read(asked, sort),
          key: sql`h.id`,
          order: recordOrders[sort]('h'),
          itemFrom: sql`directory.holons h on h.id = page.key join directory.object_classes c on c.id = h.class_id`,
          item: holonListItemSql('h', 'c', asked),
          limit: asked.limit,
          offset: asked.offset,
          exists: sql`(${asked.class} is null or exists (select from directory.object_classes asked where asked.slug = ${asked.class} and asked.is_active))`,
          extra: { query: asked.text, class: asked.class, parent: asked.parent },
          fields: ['limit', 'offset', 'count', 'has_more', 'items'],
        }),
    });
  return { name: list('name'), latest: list('latest'), updated: list('updated') };
}

/** Holons with a text that is in few. No row when the class is not an active one. */
export const findHolons = lists('find', (asked) => ({ from, where: whereSql(asked, false), materializeMatches: true }));
/** The same for a class, without a text or with one that is empty, or short and in many. */
export const listHolonsOfClass = lists('list-of-class', (asked, sort) => ({
  from: firstOfClassSql(sort, asked),
  where: sql`true`,
  count: countSql(asked),
}));
/** The same for a text that is empty, or short and in many. */
export const listHolons = lists('list', (asked) => ({ from, where: whereSql(asked, true), count: countSql(asked) }));

/** The reply of `holons.covered` for some holons: looks up from each of them. */
export const findCoveredHolons = statement.one({
  name: 'holons.find-covered',
  params: { accountId: t.integer, ids: t.integer.array },
  row: bodyRow,
  sql: ({ accountId, ids }) => sql`
    select json_build_object('ids', coalesce(json_agg(distinct given.id), '[]'))::text as body
    from unnest(${ids}) as given(id) where directory.has_team_authority(given.id, ${accountId})`,
});

/** The same for all, looking down from the account's holons. */
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

/** The reply of `holons.subtree`. */
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

/** The reply of `holons.visible`. Whether an account sees all is looked up here. */
export const getVisibleHolons = statement.one({
  name: 'holons.visible',
  params: { ids: t.integer.array, slugs: t.text.array, accountId: t.integer.nullable },
  row: bodyRow,
  sql: ({ ids, slugs, accountId }) => sql`
    select json_build_object('items', coalesce(json_agg(json_build_object('id', h.id, 'slug', h.slug) order by h.id), '[]'))::text as body
   from (select id from directory.holons where id = any(${ids})
         union select id from directory.holons where slug = any(${slugs})) as wanted
   join directory.holons h on h.id = wanted.id join directory.object_classes c on c.id = h.class_id
   where ${holonVisibleSql('h', 'c', { seesAll: sql`false`, accountId })}
     or exists (select from directory.accounts a where a.id = ${accountId} and a.is_active and (a.superuser or a.global_editor))`,
});
