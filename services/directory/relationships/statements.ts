/** Relationships of a holon (rules/memberships#relationship-list; D48). */
import { holonVisibleSql } from '../visibility.ts';
import { listStatement } from '../list-statement.ts';
import { relationshipJoinsSql, relationshipSql } from '../workflow/statements/json.ts';
import { hangsOnVisibleSql } from '../workflow/statements/visible.ts';

/** `$1` = holon, `$2` = limit, `$3`, `$4` = viewer. One with an invisible side is invisible. */
export const listHolonRelationships = listStatement({
  name: 'holons.list-relationships',
  from: `(select id, to_holon_id as other_id, to_class_id as other_class_id, journey_id
          from directory.relationships where from_holon_id = $1::integer
          union all
          select id, from_holon_id, from_class_id, journey_id
          from directory.relationships where to_holon_id = $1::integer and from_holon_id <> $1::integer) as own
    join directory.holons other on other.id = own.other_id left join directory.journeys oj on oj.id = own.journey_id`,
  where: hangsOnVisibleSql('own.other_class_id', 'own.other_id', 3),
  foundOnce: true,
  key: 'own.id',
  order: 'oj.name, other.search_name, own.id',
  itemFrom: `directory.relationships r on r.id = page.key ${relationshipJoinsSql}`,
  item: relationshipSql(3),
  limit: '$2::integer',
  fields: ['count', 'items'],
  exists: `exists (select from directory.holons mine join directory.object_classes my_class on my_class.id = mine.class_id
    where mine.id = $1::integer and ${holonVisibleSql('mine', 'my_class', 3)})`,
});
