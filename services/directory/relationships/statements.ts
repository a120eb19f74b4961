/** Relationships of a holon, and their updates (rules/memberships#relationship-list, rules/memberships#updates; D48). */
import { statement } from '#libs/orm';
import { listStatement } from '../list-statement.ts';
import { canEditHolonSql, holonVisibleSql } from '../visibility.ts';
import { hangsOnVisibleSql, relationshipJoinsSql, relationshipSql, saveSql, stateSql } from '../workflow/index.ts';

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

/** `$1` = relationship; as `lockMembership`. */
export const lockRelationship = statement(
  'relationships.lock',
  'select id from directory.relationships where id = $1::integer for no key update',
);

/** `$1` = relationship, `$2`, `$3` = viewer; a WorkflowRow. It is seen by who sees both sides, and edited by who edits one of them. */
export const findRelationship = statement(
  'relationships.find',
  `select '{}'::integer[] as person_ids, array[r.from_holon_id, r.to_holon_id] as holon_ids, ${stateSql('r')},
     ${holonVisibleSql('fh', 'fc', 2)} and ${holonVisibleSql('th', 'tc', 2)} as visible,
     ${canEditHolonSql('fh', 2)} or ${canEditHolonSql('th', 2)} as editable
   from directory.relationships r ${relationshipJoinsSql} where r.id = $1::integer`,
);

/** As `saveMembership`. */
export const saveRelationship = statement('relationships.save', saveSql('relationships'));

/** `$1` = relationship, `$2`, `$3` = viewer; its JSON. */
export const readRelationship = statement(
  'relationships.read',
  `select ${relationshipSql(2)}::text as body from directory.relationships r ${relationshipJoinsSql} where r.id = $1::integer`,
);
