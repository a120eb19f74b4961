/**
 * Statements of the follow-up worklist (rules/memberships#worklist; D41, D47a, D48). They merge memberships and
 * relationships, each in index order. Counts are read from maintained tallies, or from the rows of one responsible
 * person. docs/performance-notes.md#worklist-tallies
 */
import { type Sql, sql, type SqlPart, statement, t } from '#libs/infrastructure/sql';
import { bodyRow, pageParams } from '../lists/index.ts';
import {
  coveredHolonsSql,
  belongsToVisibleHolonSql,
  privateClassesSql,
  viewerParams,
  type ViewerSql,
} from '../visibility/index.ts';
import {
  membershipJoinsSql,
  relationshipJoinsSql,
  worklistMembershipSql,
  worklistRelationshipSql,
} from '../workflow/index.ts';

/** Filters of a worklist. */
export interface Narrowing {
  readonly memberships: boolean;
  /** `of-classes` = only relationships that have a holon of one of the classes. */
  readonly relationships: 'all' | 'of-classes' | 'none';
  /** Whether the worklist is filtered by one responsible person. */
  readonly responsible: boolean;
  /** Whether the worklist is filtered by dates. */
  readonly span: boolean;
}

const params = {
  ...pageParams,
  ...viewerParams,
  responsibleId: t.integer.nullable,
  from: t.date.nullable,
  to: t.date.nullable,
  except: t.date.nullable,
  classIds: t.integer.array.nullable,
};

/** Worklist filters as SQL; undefined = no filter. */
interface WorklistParams {
  readonly limit: SqlPart;
  readonly offset: SqlPart;
  readonly viewer: ViewerSql;
  readonly responsibleId: SqlPart | undefined;
  readonly span: { readonly from: SqlPart; readonly to: SqlPart; readonly except: SqlPart } | undefined;
  readonly classIds: SqlPart | undefined;
}

/** Returns the number of first rows of each kind that a page needs. */
const pageEndSql = ({ limit, offset }: WorklistParams): Sql => sql`${limit}::bigint + ${offset}::bigint`;

const membershipVisibleSql = ({ viewer }: WorklistParams): Sql =>
  belongsToVisibleHolonSql('m.holon_class_id', 'm.holon_id', viewer);
const relationshipVisibleSql = ({
  viewer,
}: WorklistParams): Sql => sql`${belongsToVisibleHolonSql('r.from_class_id', 'r.from_holon_id', viewer)}
  and ${belongsToVisibleHolonSql('r.to_class_id', 'r.to_holon_id', viewer)}`;

/** Returns the SQL conditions on responsible person and date, as ` and …` or empty. */
function narrowSql(alias: string, { responsibleId, span }: WorklistParams): Sql {
  const row = sql.id(alias);
  const responsible =
    responsibleId === undefined ? sql.empty : sql` and ${row}.responsible_person_id = ${responsibleId}`;
  if (span === undefined) return responsible;
  return sql`${responsible} and ${row}.follow_up_after between ${span.from} and ${span.to}
    and (${span.except} is null or ${row}.follow_up_after <> ${span.except})`;
}

/** Totals over all dates are stored separately from totals per date. */
const grainSql = ({ span }: WorklistParams): Sql => (span === undefined ? sql` and t.whole` : sql` and not t.whole`);

const involvesSql = (alias: string, classIds: SqlPart): Sql =>
  sql`(${sql.id(alias)}.from_class_id = any(${classIds}) or ${sql.id(alias)}.to_class_id = any(${classIds}))`;

/**
 * SQL of relationships of private holons that the caller's authority covers, as `r`. A relationship between two such
 * holons appears twice.
 */
const coveredRelationshipsSql = sql`covered cross join lateral (
    select near.* from directory.relationships near where near.from_holon_id = covered.id
    union all select near.* from directory.relationships near where near.to_holon_id = covered.id offset 0) as r`;

const membershipPageSql = (
  filters: WorklistParams,
): Sql => sql`(select 0 as kind, m.id, m.follow_up_after from directory.memberships m
    where ${membershipVisibleSql(filters)}${narrowSql('m', filters)} order by m.follow_up_after, m.id limit ${pageEndSql(filters)})`;

/**
 * Reads each public class in index order, so that relationships of rare classes are found at once. Of private classes
 * it reads only relationships of holons that the caller's authority covers.
 */
function relationshipPageSql(filters: WorklistParams): Sql {
  const { classIds, responsibleId, viewer } = filters;
  const where = sql`${relationshipVisibleSql(filters)}${narrowSql('r', filters)}`;
  const ordered = (more: Sql): Sql => sql`(select r.id, r.follow_up_after from directory.relationships r
    where ${more}${where} order by r.follow_up_after, r.id limit ${pageEndSql(filters)})`;
  if (classIds === undefined) return sql`(select 1 as kind, first.* from ${ordered(sql.empty)} as first)`;
  if (responsibleId !== undefined)
    return sql`(select 1 as kind, first.* from ${ordered(sql`${involvesSql('r', classIds)} and `)} as first)`;
  const open = sql`${viewer.seesAll} or wanted.class_id <> all (${privateClassesSql})`;
  return sql`(select distinct 1 as kind, first.id, first.follow_up_after from (
      select of_class.* from unnest(${classIds}) as wanted(class_id)
      cross join lateral (${ordered(sql`r.from_class_id = wanted.class_id and `)} union all ${ordered(sql`r.to_class_id = wanted.class_id and `)}) as of_class
      where ${open}
      union all select r.id, r.follow_up_after from ${coveredRelationshipsSql} where ${involvesSql('r', classIds)} and ${where}
    ) as first)`;
}

/**
 * Counts public rows (all rows for callers with access to everything) from the tallies. Rows of private holons that the
 * caller's authority covers are counted per holon and added.
 */
function membershipCountSql(filters: WorklistParams): Sql {
  if (filters.responsibleId !== undefined) {
    return sql`(select count(*) from directory.memberships m where ${membershipVisibleSql(filters)}${narrowSql('m', filters)})`;
  }
  return sql`((select coalesce(sum(t.amount), 0) from directory.membership_tallies t
      where (${filters.viewer.seesAll} or t.holon_class_id <> all (${privateClassesSql}))${grainSql(filters)}${narrowSql('t', filters)})
    + (select coalesce(sum((select count(*) from directory.memberships m where m.holon_id = covered.id${narrowSql('m', filters)})), 0) from covered))`;
}

function relationshipCountSql(filters: WorklistParams): Sql {
  const { classIds } = filters;
  const involved = (alias: string): Sql =>
    classIds === undefined ? sql.empty : sql` and ${involvesSql(alias, classIds)}`;
  if (filters.responsibleId !== undefined) {
    return sql`(select count(*) from directory.relationships r where ${relationshipVisibleSql(filters)}${involved('r')}${narrowSql('r', filters)})`;
  }
  return sql`((select coalesce(sum(t.amount), 0) from directory.relationship_tallies t
      where (${filters.viewer.seesAll} or (t.from_class_id <> all (${privateClassesSql}) and t.to_class_id <> all (${privateClassesSql})))
        ${involved('t')}${grainSql(filters)}${narrowSql('t', filters)})
    + (select count(distinct r.id) from ${coveredRelationshipsSql}
       where ${relationshipVisibleSql(filters)}${involved('r')}${narrowSql('r', filters)}))`;
}

function worklistSql({ memberships, relationships }: Narrowing, filters: WorklistParams): Sql {
  const { limit, offset, viewer } = filters;
  const pages: Sql[] = [];
  const counts: Sql[] = [];
  /** `offset 0` forces look-ups by id. With a join, PostgreSQL would scan whole tables. */
  const items: Sql[] = [];
  if (memberships) {
    pages.push(membershipPageSql(filters));
    counts.push(membershipCountSql(filters));
    items.push(sql`(select ${worklistMembershipSql(viewer)} as body from directory.memberships m ${membershipJoinsSql('person', 'holon')}
      where page.kind = 0 and m.id = page.id offset 0)`);
  }
  if (relationships !== 'none') {
    pages.push(relationshipPageSql(filters));
    counts.push(relationshipCountSql(filters));
    items.push(sql`(select ${worklistRelationshipSql(viewer)} as body from directory.relationships r ${relationshipJoinsSql}
      where page.kind = 1 and r.id = page.id offset 0)`);
  }
  const unionAll = sql` union all `;
  return sql`with recursive ${coveredHolonsSql('covered', viewer)}
    select json_build_object('count', total.count, 'limit', ${limit}, 'offset', ${offset},
      'has_more', ${offset} + page.shown < total.count, 'items', page.items)::text as body
    from (select (${sql.join(counts, sql` + `)})::bigint as count offset 0) as total,
      (select coalesce(json_agg(item.body order by page.place), '[]') as items, count(*) as shown
       from (select kind, id, row_number() over () as place
             from (select * from (${sql.join(pages, unionAll)}) as either order by follow_up_after, id, kind limit ${limit} offset ${offset}) as cut) as page
       cross join lateral (${sql.join(items, unionAll)}) as item) as page`;
}

function nameOf({ memberships, relationships, responsible, span }: Narrowing): string {
  const parts = [
    memberships && 'memberships',
    relationships !== 'none' && 'relationships',
    responsible && 'responsible',
    span && 'span',
    relationships === 'of-classes' && 'classes',
  ];
  return ['worklist', ...parts.filter((part) => part !== false)].join('.');
}

function declareWorklist(narrowing: Narrowing) {
  const { responsible, span, relationships } = narrowing;
  const omitted: string[] = [
    ...(responsible ? [] : ['responsibleId']),
    ...(span ? [] : ['from', 'to', 'except']),
    ...(relationships === 'of-classes' ? [] : ['classIds']),
  ];
  // Filters that a worklist does not use are not parameters of its statement; callers can pass them anyway.
  const own = Object.fromEntries(Object.entries(params).filter(([name]) => !omitted.includes(name))) as typeof params;
  return statement.one({
    name: nameOf(narrowing),
    planned: 'once',
    params: own,
    row: bodyRow,
    sql: ({ limit, offset, seesAll, accountId, responsibleId, from, to, except, classIds }) =>
      worklistSql(narrowing, {
        limit,
        offset,
        viewer: { seesAll, accountId },
        responsibleId: responsible ? responsibleId : undefined,
        span: span ? { from, to, except } : undefined,
        classIds: relationships === 'of-classes' ? classIds : undefined,
      }),
  });
}

/**
 * Supported combinations: everything, memberships, relationships of classes, or memberships and relationships of
 * classes.
 */
const kinds: readonly Pick<Narrowing, 'memberships' | 'relationships'>[] = [
  { memberships: true, relationships: 'all' },
  { memberships: true, relationships: 'none' },
  { memberships: true, relationships: 'of-classes' },
  { memberships: false, relationships: 'of-classes' },
];
const narrowings = kinds.flatMap((kind) =>
  [true, false].flatMap((responsible) => [true, false].map((span): Narrowing => ({ ...kind, responsible, span }))),
);

/** Each combination has a separate statement, so that its plan fits. */
export const worklists = new Map(narrowings.map((narrowing) => [nameOf(narrowing), declareWorklist(narrowing)]));

/** Returns the worklist statement for a combination of filters. @throws Error for an unsupported combination */
export function worklistOf(narrowing: Narrowing): ReturnType<typeof declareWorklist> {
  const found = worklists.get(nameOf(narrowing));
  if (found === undefined) throw new Error(`There is no statement ${nameOf(narrowing)}`);
  return found;
}

/** Returns the holon classes with these slugs and their descendants, including retired classes. */
export const findClassSubtrees = statement.many({
  name: 'worklist.find-classes',
  params: { slugs: t.text.array },
  row: { slug: t.text, ids: t.integer.array },
  sql: ({ slugs }) => sql`
    select c.slug, array(select d.id from directory.object_classes d where d.id = c.id or c.id = any(d.ancestor_ids) order by d.id) as ids
    from directory.object_classes c where c.slug = any(${slugs}) and c.object_kind = 'holon'`,
});

/** Sums the rows of each key into one row. Rows that another process is summing are skipped. */
export const foldTallies = statement.none({
  name: 'worklist.fold-tallies',
  sql: () => {
    const [ofMemberships, ofRelationships] = [sql`holon_class_id`, sql`from_class_id, to_class_id`];
    return sql`with turn as (select pg_try_advisory_xact_lock(hashtextextended('directory.fold-tallies', 0)) as mine
   ), memberships as (${deleteRowsSql('membership_tallies', ofMemberships)}
   ), relationships as (${deleteRowsSql('relationship_tallies', ofRelationships)}
   ), folded as (${addSql('membership_tallies', ofMemberships, 'memberships')}
   )
   ${addSql('relationship_tallies', ofRelationships, 'relationships')}`;
  },
});

function deleteRowsSql(name: string, classes: Sql): Sql {
  const [table, key] = [sql.id(`directory.${name}`), sql`${classes}, whole, coalesce(follow_up_after, 'infinity')`];
  return sql`delete from ${table} t using turn
    where turn.mine and (${key}) in (select ${key} from ${table} group by ${key} having count(*) > 1)
    returning t.*`;
}

function addSql(name: string, classes: Sql, taken: string): Sql {
  const key = sql`${classes}, whole, follow_up_after`;
  return sql`insert into ${sql.id(`directory.${name}`)} (${key}, amount) select ${key}, sum(amount) from ${sql.id(taken)} group by ${key} having sum(amount) <> 0`;
}
