/**
 * The follow-up worklist (rules/memberships#worklist; D41, D47a, D48): memberships and relationships in the order of one index each,
 * merged; counted from the kept tallies, or, for one responsible person, row by row. docs/performance-notes.md#worklist-tallies
 */
import { type Sql, sql, type SqlPart, statement, t } from '#libs/sql';
import { bodyRow, pageParams } from '../lists/index.ts';
import { coveredHolonsSql, belongsToVisibleHolonSql, privateClassesSql, viewerParams, type ViewerSql } from '../visibility/index.ts';
import { membershipJoinsSql, relationshipJoinsSql, worklistMembershipSql, worklistRelationshipSql } from '../workflow/index.ts';

/** What a worklist is narrowed to. */
export interface Narrowing {
  readonly memberships: boolean;
  /** `of-classes`: those with a side of one of some classes. */
  readonly relationships: 'all' | 'of-classes' | 'none';
  /** One responsible person; else whoever, nobody included. */
  readonly responsible: boolean;
  /** Dates of a span; else any date and none. */
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

/** SQL of the parameters; undefined = not narrowed. */
interface Asked {
  readonly limit: SqlPart;
  readonly offset: SqlPart;
  readonly viewer: ViewerSql;
  readonly responsibleId: SqlPart | undefined;
  readonly span: { readonly from: SqlPart; readonly to: SqlPart; readonly except: SqlPart } | undefined;
  readonly classIds: SqlPart | undefined;
}

/** A page needs so many first rows of either kind. */
const reachSql = ({ limit, offset }: Asked): Sql => sql`${limit}::bigint + ${offset}::bigint`;

const membershipVisibleSql = ({ viewer }: Asked): Sql => belongsToVisibleHolonSql('m.holon_class_id', 'm.holon_id', viewer);
const relationshipVisibleSql = ({ viewer }: Asked): Sql => sql`${belongsToVisibleHolonSql('r.from_class_id', 'r.from_holon_id', viewer)}
  and ${belongsToVisibleHolonSql('r.to_class_id', 'r.to_holon_id', viewer)}`;

/** Conditions about responsible person and date; ` and …` or nothing. */
function narrowSql(alias: string, { responsibleId, span }: Asked): Sql {
  const row = sql.id(alias);
  const responsible = responsibleId === undefined ? sql.empty : sql` and ${row}.responsible_person_id = ${responsibleId}`;
  if (span === undefined) return responsible;
  return sql`${responsible} and ${row}.follow_up_after between ${span.from} and ${span.to}
    and (${span.except} is null or ${row}.follow_up_after <> ${span.except})`;
}

/** Sums over all dates are kept apart from those of each date. */
const grainSql = ({ span }: Asked): Sql => (span === undefined ? sql` and t.whole` : sql` and not t.whole`);

const involvesSql = (alias: string, classIds: SqlPart): Sql =>
  sql`(${sql.id(alias)}.from_class_id = any(${classIds}) or ${sql.id(alias)}.to_class_id = any(${classIds}))`;

/** Relationships of the private holons that the caller's authority covers, as `r`; one between two of them comes twice. */
const nearCoveredSql = sql`covered cross join lateral (
    select near.* from directory.relationships near where near.from_holon_id = covered.id
    union all select near.* from directory.relationships near where near.to_holon_id = covered.id offset 0) as r`;

const membershipPageSql = (asked: Asked): Sql => sql`(select 0 as kind, m.id, m.follow_up_after from directory.memberships m
    where ${membershipVisibleSql(asked)}${narrowSql('m', asked)} order by m.follow_up_after, m.id limit ${reachSql(asked)})`;

/**
 * Of one public class after the other, each in the order of its index, so that a rare class is found at once; of private classes what hangs on
 * the holons that the caller's authority covers, so that nothing invisible is read.
 */
function relationshipPageSql(asked: Asked): Sql {
  const { classIds, responsibleId, viewer } = asked;
  const where = sql`${relationshipVisibleSql(asked)}${narrowSql('r', asked)}`;
  const ordered = (more: Sql): Sql => sql`(select r.id, r.follow_up_after from directory.relationships r
    where ${more}${where} order by r.follow_up_after, r.id limit ${reachSql(asked)})`;
  if (classIds === undefined) return sql`(select 1 as kind, first.* from ${ordered(sql.empty)} as first)`;
  if (responsibleId !== undefined)
    return sql`(select 1 as kind, first.* from ${ordered(sql`${involvesSql('r', classIds)} and `)} as first)`;
  const open = sql`${viewer.seesAll} or wanted.class_id <> all (${privateClassesSql})`;
  return sql`(select distinct 1 as kind, first.id, first.follow_up_after from (
      select of_class.* from unnest(${classIds}) as wanted(class_id)
      cross join lateral (${ordered(sql`r.from_class_id = wanted.class_id and `)} union all ${ordered(sql`r.to_class_id = wanted.class_id and `)}) as of_class
      where ${open}
      union all select r.id, r.follow_up_after from ${nearCoveredSql} where ${involvesSql('r', classIds)} and ${where}
    ) as first)`;
}

/**
 * Rows of public holons, or of all for those who see all, from the tallies; of private holons those that the caller's authority covers, holon by
 * holon, each through its index.
 */
function membershipCountSql(asked: Asked): Sql {
  if (asked.responsibleId !== undefined) {
    return sql`(select count(*) from directory.memberships m where ${membershipVisibleSql(asked)}${narrowSql('m', asked)})`;
  }
  return sql`((select coalesce(sum(t.amount), 0) from directory.membership_tallies t
      where (${asked.viewer.seesAll} or t.holon_class_id <> all (${privateClassesSql}))${grainSql(asked)}${narrowSql('t', asked)})
    + (select coalesce(sum((select count(*) from directory.memberships m where m.holon_id = covered.id${narrowSql('m', asked)})), 0) from covered))`;
}

function relationshipCountSql(asked: Asked): Sql {
  const { classIds } = asked;
  const involved = (alias: string): Sql => (classIds === undefined ? sql.empty : sql` and ${involvesSql(alias, classIds)}`);
  if (asked.responsibleId !== undefined) {
    return sql`(select count(*) from directory.relationships r where ${relationshipVisibleSql(asked)}${involved('r')}${narrowSql('r', asked)})`;
  }
  return sql`((select coalesce(sum(t.amount), 0) from directory.relationship_tallies t
      where (${asked.viewer.seesAll} or (t.from_class_id <> all (${privateClassesSql}) and t.to_class_id <> all (${privateClassesSql})))
        ${involved('t')}${grainSql(asked)}${narrowSql('t', asked)})
    + (select count(distinct r.id) from ${nearCoveredSql}
       where ${relationshipVisibleSql(asked)}${involved('r')}${narrowSql('r', asked)}))`;
}

function worklistSql({ memberships, relationships }: Narrowing, asked: Asked): Sql {
  const { limit, offset, viewer } = asked;
  const pages: Sql[] = [];
  const counts: Sql[] = [];
  /** `offset 0`: looked up one by one; as a join, PostgreSQL would rather read whole tables. */
  const items: Sql[] = [];
  if (memberships) {
    pages.push(membershipPageSql(asked));
    counts.push(membershipCountSql(asked));
    items.push(sql`(select ${worklistMembershipSql(viewer)} as body from directory.memberships m ${membershipJoinsSql('person', 'holon')}
      where page.kind = 0 and m.id = page.id offset 0)`);
  }
  if (relationships !== 'none') {
    pages.push(relationshipPageSql(asked));
    counts.push(relationshipCountSql(asked));
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
  const left: string[] = [
    ...(responsible ? [] : ['responsibleId']),
    ...(span ? [] : ['from', 'to', 'except']),
    ...(relationships === 'of-classes' ? [] : ['classIds']),
  ];
  // What a statement is not narrowed by, it has no parameter of; its callers may name it nevertheless.
  const own = Object.fromEntries(Object.entries(params).filter(([name]) => !left.includes(name))) as typeof params;
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

/** What may be asked for: everything, or memberships, or relationships of some classes, or both. */
const kinds: readonly Pick<Narrowing, 'memberships' | 'relationships'>[] = [
  { memberships: true, relationships: 'all' },
  { memberships: true, relationships: 'none' },
  { memberships: true, relationships: 'of-classes' },
  { memberships: false, relationships: 'of-classes' },
];
const narrowings = kinds.flatMap((kind) =>
  [true, false].flatMap((responsible) => [true, false].map((span): Narrowing => ({ ...kind, responsible, span }))),
);

/** One statement for each narrowing, so that each gets the one plan that fits it. */
export const worklists = new Map(narrowings.map((narrowing) => [nameOf(narrowing), declareWorklist(narrowing)]));

/** @throws Error for what nobody may ask for */
export function worklistOf(narrowing: Narrowing): ReturnType<typeof declareWorklist> {
  const found = worklists.get(nameOf(narrowing));
  if (found === undefined) throw new Error(`There is no statement ${nameOf(narrowing)}`);
  return found;
}

/** The classes of holons with these slugs, each with everything below it, retired or not. */
export const findClassSubtrees = statement.many({
  name: 'worklist.find-classes',
  params: { slugs: t.text.array },
  row: { slug: t.text, ids: t.integer.array },
  sql: ({ slugs }) => sql`
    select c.slug, array(select d.id from directory.object_classes d where d.id = c.id or c.id = any(d.ancestor_ids) order by d.id) as ids
    from directory.object_classes c where c.slug = any(${slugs}) and c.object_kind = 'holon'`,
});

/** Folds what writers added into one row for each key; what another process folds at this moment is left to it. */
export const foldTallies = statement.none({
  name: 'worklist.fold-tallies',
  sql: () => {
    const [ofMemberships, ofRelationships] = [sql`holon_class_id`, sql`from_class_id, to_class_id`];
    return sql`with turn as (select pg_try_advisory_xact_lock(hashtextextended('directory.fold-tallies', 0)) as mine
   ), memberships as (${takeSql('membership_tallies', ofMemberships)}
   ), relationships as (${takeSql('relationship_tallies', ofRelationships)}
   ), folded as (${addSql('membership_tallies', ofMemberships, 'memberships')}
   )
   ${addSql('relationship_tallies', ofRelationships, 'relationships')}`;
  },
});

function takeSql(name: string, classes: Sql): Sql {
  const [table, key] = [sql.id(`directory.${name}`), sql`${classes}, whole, coalesce(follow_up_after, 'infinity')`];
  return sql`delete from ${table} t using turn
    where turn.mine and (${key}) in (select ${key} from ${table} group by ${key} having count(*) > 1)
    returning t.*`;
}

function addSql(name: string, classes: Sql, taken: string): Sql {
  const key = sql`${classes}, whole, follow_up_after`;
  return sql`insert into ${sql.id(`directory.${name}`)} (${key}, amount) select ${key}, sum(amount) from ${sql.id(taken)} group by ${key} having sum(amount) <> 0`;
}
