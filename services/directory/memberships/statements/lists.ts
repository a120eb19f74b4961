/** Statements of membership lists (rules/memberships#membership-lists; D47a). */
import { type Sql, sql, type SqlPart, statement, t } from '#libs/infrastructure/sql';
import { bodyRow, listSql, pageParams, wordsInAnyOrderSql } from '../../lists/index.ts';
import { belongsToVisibleHolonSql, holonVisibleSql, viewerParams } from '../../visibility/index.ts';
import { membershipJoinsSql, membershipWithHolonSql, membershipWithPersonSql } from '../../workflow/index.ts';

/**
 * Returns SQL that reads one row per membership by id. With a join, PostgreSQL would scan the whole table for holons
 * and people with very many memberships; `offset 0` prevents the scan.
 */
const lookUpSql = (table: 'people' | 'holons', id: string, alias: string): Sql =>
  sql`cross join lateral (select * from ${sql.id(`directory.${table}`)} named where named.id = ${sql.id(id)} offset 0) as ${sql.id(alias)}`;

const itemFromSql = (counterpart: 'person' | 'holon'): Sql =>
  sql`directory.memberships m on m.id = page.key ${membershipJoinsSql(counterpart)}`;

export const listPersonMemberships = statement.maybeOne({
  name: 'people.list-memberships',
  planned: 'once',
  params: { personId: t.integer, ...pageParams, ...viewerParams },
  row: bodyRow,
  sql: ({ personId, limit, offset, ...viewer }) =>
    listSql({
      from: sql`directory.memberships m left join directory.journeys j on j.id = m.journey_id ${lookUpSql('holons', 'm.holon_id', 'h')}`,
      where: sql`m.person_id = ${personId} and ${belongsToVisibleHolonSql('m.holon_class_id', 'm.holon_id', viewer)}`,
      materializeMatches: true,
      key: sql`m.id`,
      order: sql`j.search_name, h.search_name, m.id`,
      itemFrom: itemFromSql('holon'),
      item: membershipWithHolonSql(viewer),
      limit,
      offset,
      exists: sql`exists (select from directory.people known where known.id = ${personId})`,
    }),
});

/** Total orders of a holon's memberships, and the joins that each order needs. */
const orders = {
  name: { by: sql`j.search_name, p.search_name, m.id`, journeys: true, people: true },
  '-name': { by: sql`j.search_name desc, p.search_name desc, m.id desc`, journeys: true, people: true },
  follow_up_after: { by: sql`m.follow_up_after nulls last, m.id`, journeys: false, people: false },
  '-follow_up_after': { by: sql`m.follow_up_after desc nulls last, m.id`, journeys: false, people: false },
  person_created: { by: sql`p.created_at, m.id`, journeys: false, people: true },
  '-person_created': { by: sql`p.created_at desc, m.id desc`, journeys: false, people: true },
} as const;
export type MembershipSort = keyof typeof orders;

export function isMembershipSort(text: string): text is MembershipSort {
  return Object.hasOwn(orders, text);
}

/** Filters of a holon's memberships; null = no filter. */
const holonParams = {
  holonId: t.integer,
  journey: t.text.nullable,
  step: t.text.nullable,
  responsiblePersonId: t.integer.nullable,
  /** `none` = memberships without a follow-up date, `span` = date between `from` and `to`. */
  followUp: t.text.as<'none' | 'span'>().nullable,
  from: t.date.nullable,
  to: t.date.nullable,
  ...pageParams,
  ...viewerParams,
};
type ListParams = Readonly<Record<keyof typeof holonParams, SqlPart>>;

function holonListSql(sort: MembershipSort, params: ListParams, text?: SqlPart): Sql {
  const { holonId, journey, step, responsiblePersonId, followUp, limit, offset } = params;
  const order = orders[sort];
  const where = sql`m.holon_id = ${holonId}
    and (${journey} is null or m.journey_id = (select params.id from directory.journeys params where params.slug = ${journey}))
    and (${step} is null or m.step_id = any(array(select params.id from directory.journey_steps params where params.slug = ${step})))
    and (${responsiblePersonId} is null or m.responsible_person_id = ${responsiblePersonId})
    and case ${followUp} when 'none' then m.follow_up_after is null
      when 'span' then m.follow_up_after between ${params.from} and ${params.to} else true end
    ${text === undefined ? sql.empty : sql`and (${containsSql(text)})`}`;
  // A join that neither the order nor the text needs is read only for the page.
  const journeys = order.journeys ? sql`left join directory.journeys j on j.id = m.journey_id` : sql.empty;
  const people = text !== undefined || order.people ? lookUpSql('people', 'm.person_id', 'p') : sql.empty;
  return listSql({
    from: sql`directory.memberships m ${journeys} ${people}`,
    where,
    materializeMatches: true,
    key: sql`m.id`,
    order: order.by,
    itemFrom: itemFromSql('person'),
    item: membershipWithPersonSql,
    limit,
    offset,
    exists: sql`exists (select from directory.holons own join directory.object_classes own_class on own_class.id = own.class_id
      where own.id = ${holonId} and ${holonVisibleSql('own', 'own_class', params)})`,
  });
}

/** Returns SQL that matches the text in name and contact values (words in any order) and in the description. */
function containsSql(text: SqlPart): Sql {
  const pattern = sql`'%' || directory.like_literal(directory.fold(${text})) || '%'`;
  return sql`p.search_text like ${pattern} or p.search_description like ${pattern} or ${wordsInAnyOrderSql(sql`p.search_text`, sql`p.search_words`, text)}`;
}

const nameOf = (sort: MembershipSort): string =>
  `holons.list-memberships.${sort.replace('-', 'r-').replaceAll('_', '-')}`;

/** Creates one statement per order. */
function forEachSort<Made>(make: (sort: MembershipSort) => Made): Readonly<Record<MembershipSort, Made>> {
  return Object.fromEntries((Object.keys(orders) as MembershipSort[]).map((sort) => [sort, make(sort)])) as Record<
    MembershipSort,
    Made
  >;
}

/** Lists a holon's memberships. Returns no row if the holon does not exist or is invisible. */
export const listHolonMemberships = forEachSort((sort) =>
  statement.maybeOne({
    name: nameOf(sort),
    planned: 'once',
    params: holonParams,
    row: bodyRow,
    sql: (params) => holonListSql(sort, params),
  }),
);

/** Lists memberships whose person matches a text by name, contact value or description. */
export const findHolonMemberships = forEachSort((sort) =>
  statement.maybeOne({
    name: `${nameOf(sort)}.q`,
    planned: 'once',
    params: { ...holonParams, text: t.text },
    row: bodyRow,
    sql: ({ text, ...params }) => holonListSql(sort, params, text),
  }),
);
