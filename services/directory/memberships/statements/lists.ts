/** Lists of memberships (rules/memberships#membership-lists; D47a). */
import type { Statement } from '#libs/orm';
import { holonVisibleSql } from '../../visibility.ts';
import { listStatement } from '../../list-statement.ts';
import { hangsOnVisibleSql, membershipJoinsSql, membershipWithHolonSql, membershipWithPersonSql } from '../../workflow/index.ts';

/**
 * The row that a membership names, looked up one by one. As a join, a holon or a person with very many memberships would have PostgreSQL read
 * the whole table; `offset 0` keeps it from seeing one.
 */
const lookUp = (table: 'people' | 'holons', id: string, alias: string): string =>
  `cross join lateral (select * from directory.${table} named where named.id = ${id} offset 0) as ${alias}`;

const itemFrom = (counterpart: 'person' | 'holon'): string =>
  `directory.memberships m on m.id = page.key ${membershipJoinsSql(counterpart)}`;

/** `$1` = person, `$2` = limit, `$3` = offset, `$4`, `$5` = viewer. */
export const listPersonMemberships = listStatement({
  name: 'people.list-memberships',
  from: `directory.memberships m left join directory.journeys j on j.id = m.journey_id ${lookUp('holons', 'm.holon_id', 'h')}`,
  where: `m.person_id = $1::integer and ${hangsOnVisibleSql('m.holon_class_id', 'm.holon_id', 4)}`,
  foundOnce: true,
  key: 'm.id',
  order: 'j.name, h.search_name, m.id',
  itemFrom: itemFrom('holon'),
  item: membershipWithHolonSql(4),
  limit: '$2::integer',
  offset: '$3::integer',
  exists: 'exists (select from directory.people known where known.id = $1::integer)',
});

/** Total orders of a holon's memberships. */
const orders = {
  name: 'j.name, p.search_name, m.id',
  '-name': 'j.name desc, p.search_name desc, m.id desc',
  follow_up_after: 'm.follow_up_after nulls last, m.id',
  '-follow_up_after': 'm.follow_up_after desc nulls last, m.id',
  person_created: 'p.created_at, m.id',
  '-person_created': 'p.created_at desc, m.id desc',
} as const;
export type MembershipSort = keyof typeof orders;

export function isMembershipSort(text: string): text is MembershipSort {
  return Object.hasOwn(orders, text);
}

const pattern = `'%' || directory.like_literal(directory.fold($12::text)) || '%'`;
/** Name and contact values are lines of one text. */
const textSql = `p.search_text like ${pattern} or p.search_description like ${pattern}`;

function holonList(sort: MembershipSort, searched: boolean): Statement {
  const order = orders[sort];
  const where = `m.holon_id = $1::integer
    and ($2::text is null or m.journey_id = (select asked.id from directory.journeys asked where asked.slug = $2::text))
    and ($3::text is null or m.step_id = any(array(select asked.id from directory.journey_steps asked where asked.slug = $3::text)))
    and ($4::integer is null or m.responsible_person_id = $4::integer)
    and case $5::text when 'none' then m.follow_up_after is null
      when 'span' then m.follow_up_after between $6::date and $7::date else true end
    ${searched ? `and (${textSql})` : ''}`;
  // What neither the order nor the text asks for is read for the page alone.
  const journeys = order.includes('j.') ? 'left join directory.journeys j on j.id = m.journey_id' : '';
  const people = searched || order.includes('p.') ? lookUp('people', 'm.person_id', 'p') : '';
  return listStatement({
    name: `holons.list-memberships.${sort.replace('-', 'r-').replaceAll('_', '-')}${searched ? '.q' : ''}`,
    from: `directory.memberships m ${journeys} ${people}`,
    where,
    foundOnce: true,
    key: 'm.id',
    order,
    itemFrom: itemFrom('person'),
    item: membershipWithPersonSql,
    limit: '$8::integer',
    offset: '$9::integer',
    exists: `exists (select from directory.holons own join directory.object_classes own_class on own_class.id = own.class_id
      where own.id = $1::integer and ${holonVisibleSql('own', 'own_class', 10)})`,
  });
}

const sorts = Object.keys(orders) as MembershipSort[];
const plain = new Map(sorts.map((sort) => [sort, holonList(sort, false)]));
const searched = new Map(sorts.map((sort) => [sort, holonList(sort, true)]));

/**
 * `$1` = holon, `$2` = journey slug, `$3` = step slug, `$4` = responsible person, `$5` = `none`, `span` or null, `$6`, `$7` = first and last date,
 * `$8` = limit, `$9` = offset, `$10`, `$11` = viewer; null = not narrowed. With `q` also `$12` = text to find.
 */
export function listHolonMemberships(sort: MembershipSort, withText: boolean): Statement {
  const found = (withText ? searched : plain).get(sort);
  if (found === undefined) throw new Error(`there is no order ${sort}`);
  return found;
}
