/** Reads of holons for the open API, as far as the caller may see them (rules/holons#holons; D47a, D48). */
import { statement, type Statement } from '#libs/orm';
import { holonListItemSql, holonPublicSql } from '../../public-json.ts';
import { coveredHolonsSql, holonVisibleSql } from '../../visibility.ts';
import { listStatement, type ListSql } from '../../list-statement.ts';
import { recordOrders, type RecordSort } from '../../record-list.ts';
import { containsInAnySql, containsSql, gramsOf, longGramsOf } from '../../text-match.ts';

/** `$1` = ids, `$2` = slugs; one row with the reply of `holons.get-many`. */
export const getHolons = statement(
  'holons.get-many',
  `select json_build_object('items', coalesce(json_agg(json_build_object('id', h.id, 'slug', h.slug, 'name', h.name, 'type', c.slug,
     'description', h.description, 'parent_id', h.parent_id, 'private', c.effective_private, 'conversation_event', c.conversation_event)
     order by h.id), '[]'))::text as body
   from (select id from directory.holons where id = any($1::integer[])
         union select id from directory.holons where slug = any($2::text[])) as wanted
   join directory.holons h on h.id = wanted.id join directory.object_classes c on c.id = h.class_id`,
);

const one = (name: string, condition: string) =>
  statement(
    name,
    `select ${holonPublicSql('h', 'c', 2)}::text as body
     from directory.holons h join directory.object_classes c on c.id = h.class_id where ${condition} and ${holonVisibleSql('h', 'c', 2)}`,
  );

/** `$1` = id, `$2`, `$3` = viewer; one row with HolonPublic. */
export const getHolon = one('v1.holons.get', 'h.id = $1::integer');
/** `$1` = slug, `$2`, `$3` = viewer; one row with HolonPublic. */
export const getHolonBySlug = one('v1.holons.get-by-slug', 'h.slug = $1::text');

/** The class with this slug and every class below it, retired ones too. */
const inSubtreeSql = (objectClass: string, parameter: string): string =>
  `exists (select from directory.object_classes wanted where wanted.slug = ${parameter}::text
    and (${objectClass}.id = wanted.id or wanted.id = any(${objectClass}.ancestor_ids)))`;
const classIdsSql = `h.class_id = any(array(select k.id from directory.object_classes k where ${inSubtreeSql('k', '$2')}))`;

const from = 'directory.holons h join directory.object_classes c on c.id = h.class_id';
/** @param frequent says that a short text is in many names or descriptions */
const where = (frequent: boolean): string => {
  const contains = (column: string): string =>
    frequent ? containsSql(column, '$1', gramsOf('h'), 'true') : containsInAnySql(column, '$1', gramsOf('h'), longGramsOf.holons('h'));
  return `($1::text is null or ${contains('h.search_name')} or ${contains('h.search_description')})
  and ($2::text is null or ${classIdsSql})
  and ($3::integer is null or (h.parent_id = $3::integer and exists (
    select from directory.holons p join directory.object_classes k on k.id = p.class_id where p.id = $3::integer and ${holonVisibleSql('p', 'k', 8)})))
  and ($4::timestamptz is null or h.created_at > $4::timestamptz) and ($5::timestamptz is null or h.updated_at > $5::timestamptz)
  and ${holonVisibleSql('h', 'c', 8)}`;
};

/**
 * Matches of a class alone are not counted one by one: of public classes, and of private ones for those who see all, the numbers of
 * holons are kept; of private ones that team authority covers, those are counted that it covers.
 */
const countSql = `select case when $1::text is null and $3::integer is null and $4::timestamptz is null and $5::timestamptz is null
  then (select coalesce(sum(directory.usage_count('class_holons', k.id)), 0)::bigint
        from directory.object_classes k where ${inSubtreeSql('k', '$2')} and (not k.effective_private or $8::boolean))
    + (with recursive ${coveredHolonsSql('covered', 8)}
       select count(*) from covered join directory.holons h on h.id = covered.id where ${classIdsSql})
  else (select count(*) from ${from} where ${where(false)}) end as count`;

/**
 * The first of each public class in the order of an index of its own; of private classes those that the caller's authority covers, so that
 * nothing invisible is read.
 */
const firstOfClassSql = (sort: RecordSort): string => `(
    select of_class.* from directory.object_classes asked cross join lateral (
      select h.* from ${from} where h.class_id = asked.id and ${where(true)}
      order by ${recordOrders[sort]('h')} limit $6::bigint + $7::bigint) as of_class
    where ${inSubtreeSql('asked', '$2')} and (not asked.effective_private or $8::boolean)
    union all (
      with recursive ${coveredHolonsSql('covered', 8)}
      select h.* from covered join directory.holons h on h.id = covered.id join directory.object_classes c on c.id = h.class_id
      where ${where(true)})
  ) as h`;

/** How matches are come by. */
type Reading = Pick<ListSql, 'from' | 'where' | 'count' | 'foundOnce'>;

function lists(name: string, read: (sort: RecordSort) => Reading): Readonly<Record<RecordSort, Statement>> {
  const list = (sort: RecordSort): Statement =>
    listStatement({
      ...read(sort),
      name: `v1.holons.${name}-${sort}`,
      planned: 'each-call',
      key: 'h.id',
      order: recordOrders[sort]('h'),
      itemFrom: 'directory.holons h on h.id = page.key join directory.object_classes c on c.id = h.class_id',
      item: holonListItemSql('h', 'c', 8),
      limit: '$6::integer',
      offset: '$7::integer',
      exists: '($2::text is null or exists (select from directory.object_classes asked where asked.slug = $2::text and asked.is_active))',
      extra: { query: '$1::text', class: '$2::text', parent: '$3::integer' },
      fields: ['limit', 'offset', 'count', 'has_more', 'items'],
    });
  return { name: list('name'), latest: list('latest'), updated: list('updated') };
}

/**
 * Holons with a text that is in few.
 *
 * `$1` = text, `$2` = class, `$3` = parent, `$4`, `$5` = created, updated after, each or null, `$6` = limit, `$7` = offset, `$8`, `$9` = viewer.
 * No row when the class is not an active one.
 */
export const findHolons = lists('find', () => ({ from, where: where(false), foundOnce: true }));
/** The same for a class, without a text or with one that is empty, or short and in many. */
export const listHolonsOfClass = lists('list-of-class', (sort) => ({ from: firstOfClassSql(sort), where: 'true', count: countSql }));
/** The same for a text that is empty, or short and in many. */
export const listHolons = lists('list', () => ({ from, where: where(true), count: countSql }));
