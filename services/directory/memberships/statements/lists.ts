/** Lists of memberships (rules/memberships#membership-lists; D47a). */
import { type Sql, sql, type SqlPart, statement, t } from '#libs/sql';
import { bodyRow, listSql, pageParams, wordsInAnyOrderSql } from '../../lists/index.ts';
import { belongsToVisibleHolonSql, holonVisibleSql, viewerParams } from '../../visibility/index.ts';
import { membershipJoinsSql, membershipWithHolonSql, membershipWithPersonSql } from '../../workflow/index.ts';

/**
 * The row that a membership names, looked up one by one. As a join, a holon or a person with very many memberships would have PostgreSQL read
 * the whole table; `offset 0` keeps it from seeing one.
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

/** Total orders of a holon's memberships, and whether the name of the journey or the person is asked for. */
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

/** Null = not narrowed. */
const holonParams = {
  holonId: t.integer,
  journey: t.text.nullable,
  step: t.text.nullable,
  responsiblePersonId: t.integer.nullable,
  /** `none` = without a date, `span` = from the first to the last one. */
  followUp: t.text.as<'none' | 'span'>().nullable,
  from: t.date.nullable,
  to: t.date.nullable,
  ...pageParams,
  ...viewerParams,
};
type Asked = Readonly<Record<keyof typeof holonParams, SqlPart>>;

function holonListSql(sort: MembershipSort, asked: Asked, text?: SqlPart): Sql {
  const { holonId, journey, step, responsiblePersonId, followUp, limit, offset } = asked;
  const order = orders[sort];
  const where = sql`m.holon_id = ${holonId}
    and (${journey} is null or m.journey_id = (select asked.id from directory.journeys asked where asked.slug = ${journey}))
    and (${step} is null or m.step_id = any(array(select asked.id from directory.journey_steps asked where asked.slug = ${step})))
    and (${responsiblePersonId} is null or m.responsible_person_id = ${responsiblePersonId})
    and case ${followUp} when 'none' then m.follow_up_after is null
      when 'span' then m.follow_up_after between ${asked.from} and ${asked.to} else true end
    ${text === undefined ? sql.empty : sql`and (${containsSql(text)})`}`;
  // What neither the order nor the text asks for is read for the page alone.
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
      where own.id = ${holonId} and ${holonVisibleSql('own', 'own_class', asked)})`,
  });
}

/** Name and contact values are lines of one text, whose words may be asked for in any order. */
function containsSql(text: SqlPart): Sql {
  const pattern = sql`'%' || directory.like_literal(directory.fold(${text})) || '%'`;
  return sql`p.search_text like ${pattern} or p.search_description like ${pattern} or ${wordsInAnyOrderSql(sql`p.search_text`, sql`p.search_words`, text)}`;
}

const nameOf = (sort: MembershipSort): string => `holons.list-memberships.${sort.replace('-', 'r-').replaceAll('_', '-')}`;

/** One statement for each order. */
function forEachSort<Made>(make: (sort: MembershipSort) => Made): Readonly<Record<MembershipSort, Made>> {
  return Object.fromEntries((Object.keys(orders) as MembershipSort[]).map((sort) => [sort, make(sort)])) as Record<MembershipSort, Made>;
}

/** No row when the holon is absent or invisible. */
export const listHolonMemberships = forEachSort((sort) =>
  statement.maybeOne({
    name: nameOf(sort),
    planned: 'once',
    params: holonParams,
    row: bodyRow,
    sql: (asked) => holonListSql(sort, asked),
  }),
);

/** Those of them with a text in the person's name, contact values or description. */
export const findHolonMemberships = forEachSort((sort) =>
  statement.maybeOne({
    name: `${nameOf(sort)}.q`,
    planned: 'once',
    params: { ...holonParams, text: t.text },
    row: bodyRow,
    sql: ({ text, ...asked }) => holonListSql(sort, asked, text),
  }),
);
