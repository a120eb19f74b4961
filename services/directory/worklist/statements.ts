/**
 * The follow-up worklist (rules/memberships#worklist; D41, D47a, D48): memberships and relationships in the order of one index each,
 * merged; counted from the kept tallies, or, for one responsible person, row by row. docs/adr/worklist-counts-are-kept.md
 */
import { statement, type Statement } from '#libs/orm';
import type { DateSpan } from '../follow-up.ts';
import type { ViewerParameters } from '../viewer.ts';
import { coveredHolonsSql } from '../visibility.ts';
import {
  hangsOnVisibleSql,
  membershipJoinsSql,
  privateClassesSql,
  relationshipJoinsSql,
  worklistMembershipSql,
  worklistRelationshipSql,
} from '../workflow/index.ts';

export interface WorklistFilters {
  readonly limit: number;
  readonly offset: number;
  readonly viewer: ViewerParameters;
  /** Undefined = whoever, nobody included. */
  readonly responsibleId: number | undefined;
  /** Undefined = any date and none. */
  readonly span: DateSpan | undefined;
  readonly memberships: boolean;
  /** Classes of which a side must be one; undefined = all relationships; empty = none. */
  readonly classIds: readonly number[] | undefined;
}

/** SQL of the places of optional parameters; undefined = not narrowed. */
interface Places {
  readonly responsible: string | undefined;
  readonly span: { readonly from: string; readonly to: string; readonly except: string } | undefined;
  readonly classes: string | undefined;
}

/** Where the viewer's parameters are; `$1` = limit, `$2` = offset. */
const viewer = 3;
/** A page needs so many first rows of either kind. */
const reach = '$1::bigint + $2::bigint';
const order = 'follow_up_after, id';

const membershipVisible = hangsOnVisibleSql('m.holon_class_id', 'm.holon_id', viewer);
const relationshipVisible = `${hangsOnVisibleSql('r.from_class_id', 'r.from_holon_id', viewer)}
  and ${hangsOnVisibleSql('r.to_class_id', 'r.to_holon_id', viewer)}`;

/** Conditions about responsible person and date; ` and …` or nothing. */
function narrow(row: string, { responsible, span }: Places): string {
  const conditions: string[] = [];
  if (responsible !== undefined) conditions.push(`${row}.responsible_person_id = ${responsible}`);
  if (span !== undefined) conditions.push(`${row}.follow_up_after between ${span.from} and ${span.to}`, notExcepted(row, span.except));
  return conditions.map((condition) => ` and ${condition}`).join('');
}

/** Sums over all dates are kept apart from those of each date. */
const grain = ({ span }: Places): string => (span === undefined ? ' and t.whole' : ' and not t.whole');

const notExcepted = (row: string, except: string): string => `(${except} is null or ${row}.follow_up_after <> ${except})`;
const involves = (row: string, classes: string): string =>
  `(${row}.from_class_id = any(${classes}) or ${row}.to_class_id = any(${classes}))`;

/** Relationships of the private holons that the caller's authority covers, as `r`; one between two of them comes twice. */
const nearCovered = `covered cross join lateral (
    select near.* from directory.relationships near where near.from_holon_id = covered.id
    union all select near.* from directory.relationships near where near.to_holon_id = covered.id offset 0) as r`;

function membershipPage(places: Places): string {
  return `(select 0 as kind, m.id, m.follow_up_after from directory.memberships m
    where ${membershipVisible}${narrow('m', places)} order by m.follow_up_after, m.id limit ${reach})`;
}

/**
 * Of one public class after the other, each in the order of its index, so that a rare class is found at once; of private classes what hangs on
 * the holons that the caller's authority covers, so that nothing invisible is read.
 */
function relationshipPage(places: Places): string {
  const { classes, responsible } = places;
  const where = `${relationshipVisible}${narrow('r', places)}`;
  const ordered = (more: string): string => `(select r.id, r.follow_up_after from directory.relationships r
    where ${more}${where} order by r.follow_up_after, r.id limit ${reach})`;
  if (classes === undefined) return `(select 1 as kind, first.* from ${ordered('')} as first)`;
  if (responsible !== undefined) return `(select 1 as kind, first.* from ${ordered(`${involves('r', classes)} and `)} as first)`;
  const open = `$${viewer}::boolean or wanted.class_id <> all (${privateClassesSql})`;
  return `(select distinct 1 as kind, first.id, first.follow_up_after from (
      select of_class.* from unnest(${classes}) as wanted(class_id)
      cross join lateral (${ordered('r.from_class_id = wanted.class_id and ')} union all ${ordered('r.to_class_id = wanted.class_id and ')}) as of_class
      where ${open}
      union all select r.id, r.follow_up_after from ${nearCovered} where ${involves('r', classes)} and ${where}
    ) as first)`;
}

/**
 * Rows of public holons, or of all for those who see all, from the tallies; of private holons those that the caller's authority covers, holon by
 * holon, each through its index.
 */
function membershipCount(places: Places): string {
  if (places.responsible !== undefined) {
    return `(select count(*) from directory.memberships m where ${membershipVisible}${narrow('m', places)})`;
  }
  return `((select coalesce(sum(t.amount), 0) from directory.membership_tallies t
      where ($${viewer}::boolean or t.holon_class_id <> all (${privateClassesSql}))${grain(places)}${narrow('t', places)})
    + (select coalesce(sum((select count(*) from directory.memberships m where m.holon_id = covered.id${narrow('m', places)})), 0) from covered))`;
}

function relationshipCount(places: Places): string {
  const { classes } = places;
  const involved = (row: string): string => (classes === undefined ? '' : ` and ${involves(row, classes)}`);
  if (places.responsible !== undefined) {
    return `(select count(*) from directory.relationships r where ${relationshipVisible}${involved('r')}${narrow('r', places)})`;
  }
  return `((select coalesce(sum(t.amount), 0) from directory.relationship_tallies t
      where ($${viewer}::boolean or (t.from_class_id <> all (${privateClassesSql}) and t.to_class_id <> all (${privateClassesSql})))
        ${involved('t')}${grain(places)}${narrow('t', places)})
    + (select count(distinct r.id) from ${nearCovered}
       where ${relationshipVisible}${involved('r')}${narrow('r', places)}))`;
}

function worklistText(memberships: boolean, relationships: boolean, places: Places): string {
  const pages: string[] = [];
  const counts: string[] = [];
  /** `offset 0`: looked up one by one; as a join, PostgreSQL would rather read whole tables. */
  const items: string[] = [];
  if (memberships) {
    pages.push(membershipPage(places));
    counts.push(membershipCount(places));
    items.push(`select ${worklistMembershipSql(viewer)} as body from directory.memberships m ${membershipJoinsSql('person', 'holon')}
      where page.kind = 0 and m.id = page.id offset 0`);
  }
  if (relationships) {
    pages.push(relationshipPage(places));
    counts.push(relationshipCount(places));
    items.push(`select ${worklistRelationshipSql(viewer)} as body from directory.relationships r ${relationshipJoinsSql}
      where page.kind = 1 and r.id = page.id offset 0`);
  }
  return `with recursive ${coveredHolonsSql('covered', viewer)}
    select json_build_object('count', total.count, 'limit', $1::integer, 'offset', $2::integer,
      'has_more', $2::integer + page.shown < total.count, 'items', page.items)::text as body
    from (select (${counts.join(' + ')})::bigint as count offset 0) as total,
      (select coalesce(json_agg(item.body order by page.place), '[]') as items, count(*) as shown
       from (select kind, id, row_number() over () as place
             from (select * from (${pages.join(' union all ')}) as either order by ${order}, kind limit $1::integer offset $2::integer) as cut) as page
       cross join lateral (${items.map((item) => `(${item})`).join(' union all ')}) as item) as page`;
}

/** One statement for each combination, so that each gets the one plan that fits it. At least one kind must be wanted. */
export function listWorklist(filters: WorklistFilters): { statement: Statement; params: unknown[] } {
  const { responsibleId, span, memberships, classIds } = filters;
  const relationships = classIds === undefined || classIds.length > 0;
  const params: unknown[] = [filters.limit, filters.offset, ...filters.viewer];
  const names: string[] = [];
  const add = (value: unknown, type: string): string => `$${params.push(value)}::${type}`;
  const name = <Value>(part: string, value: Value): Value => {
    names.push(part);
    return value;
  };
  if (memberships) names.push('memberships');
  if (relationships) names.push('relationships');
  const places: Places = {
    responsible: responsibleId === undefined ? undefined : name('responsible', add(responsibleId, 'integer')),
    span:
      span === undefined
        ? undefined
        : name('span', { from: add(span.from, 'date'), to: add(span.to, 'date'), except: add(span.except, 'date') }),
    classes: classIds === undefined || !relationships ? undefined : name('classes', add(classIds, 'integer[]')),
  };
  const text = worklistText(memberships, relationships, places);
  return { statement: statement(['worklist', ...names].join('.'), text, { planned: 'once' }), params };
}

export interface ClassSubtreeRow {
  readonly slug: string;
  /** The class and everything below it, retired or not. */
  readonly ids: readonly number[];
}

/** `$1` = slugs; a ClassSubtreeRow for each that is a class of holons. */
export const findClassSubtrees = statement(
  'worklist.find-classes',
  `select c.slug, array(select d.id from directory.object_classes d where d.id = c.id or c.id = any(d.ancestor_ids) order by d.id) as ids
   from directory.object_classes c where c.slug = any($1::text[]) and c.object_kind = 'holon'`,
);

/** Folds what writers added into one row for each key; what another process folds at this moment is left to it. */
export const foldTallies = statement(
  'worklist.fold-tallies',
  `with turn as (select pg_try_advisory_xact_lock(hashtextextended('directory.fold-tallies', 0)) as mine
   ), memberships as (${takeSql('membership_tallies', 'holon_class_id')}
   ), relationships as (${takeSql('relationship_tallies', 'from_class_id, to_class_id')}
   ), folded as (${addSql('membership_tallies', 'holon_class_id', 'memberships')}
   )
   ${addSql('relationship_tallies', 'from_class_id, to_class_id', 'relationships')}`,
);

function takeSql(table: string, classes: string): string {
  const key = `${classes}, whole, coalesce(follow_up_after, 'infinity')`;
  return `delete from directory.${table} t using turn
    where turn.mine and (${key}) in (select ${key} from directory.${table} group by ${key} having count(*) > 1)
    returning t.*`;
}

function addSql(table: string, classes: string, taken: string): string {
  const key = `${classes}, whole, follow_up_after`;
  return `insert into directory.${table} (${key}, amount) select ${key}, sum(amount) from ${taken} group by ${key} having sum(amount) <> 0`;
}
