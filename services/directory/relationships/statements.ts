/**
 * Statements that list the relationships of a holon and update relationships (rules/memberships#relationship-list,
 * rules/memberships#updates; D48).
 */
import { sql, statement, t } from '#libs/sql';
import { bodyRow, listSql, pageParams } from '../lists/index.ts';
import { canEditHolonSql, belongsToVisibleHolonSql, holonVisibleSql, viewerParams } from '../visibility/index.ts';
import {
  relationshipJoinsSql,
  relationshipSql,
  rowParams,
  saveSql,
  stateParams,
  stateSql,
  workflowRow,
} from '../workflow/index.ts';

/**
 * Lists the relationships whose holons are both visible. Returns no row if the requested holon does not exist or is
 * invisible.
 */
export const listHolonRelationships = statement.maybeOne({
  name: 'holons.list-relationships',
  planned: 'once',
  params: { holonId: t.integer, ...pageParams, ...viewerParams },
  row: bodyRow,
  sql: ({ holonId, limit, offset, ...viewer }) =>
    listSql({
      from: sql`(select id, to_holon_id as other_id, to_class_id as other_class_id, journey_id
          from directory.relationships where from_holon_id = ${holonId}
          union all
          select id, from_holon_id, from_class_id, journey_id
          from directory.relationships where to_holon_id = ${holonId} and from_holon_id <> ${holonId}) as own
    join directory.holons other on other.id = own.other_id left join directory.journeys oj on oj.id = own.journey_id`,
      where: belongsToVisibleHolonSql('own.other_class_id', 'own.other_id', viewer),
      materializeMatches: true,
      key: sql`own.id`,
      order: sql`oj.search_name, other.search_name, own.id`,
      itemFrom: sql`directory.relationships r on r.id = page.key ${relationshipJoinsSql}`,
      item: relationshipSql(viewer),
      limit,
      offset,
      fields: ['count', 'items'],
      exists: sql`exists (select from directory.holons mine join directory.object_classes my_class on my_class.id = mine.class_id
    where mine.id = ${holonId} and ${holonVisibleSql('mine', 'my_class', viewer)})`,
    }),
});

/** Locks the relationship until the transaction ends. Read it in the next statement, which sees the latest version. */
export const lockRelationship = statement.none({
  name: 'relationships.lock',
  params: { id: t.integer },
  sql: ({ id }) => sql`select id from directory.relationships where id = ${id} for no key update`,
});

/** Finds a relationship. It is visible if both holons are visible, and editable if one of them is editable. */
export const findRelationship = statement.maybeOne({
  name: 'relationships.find',
  params: rowParams,
  row: workflowRow,
  sql: ({ id, ...viewer }) => sql`
    select '{}'::integer[] as person_ids, array[r.from_holon_id, r.to_holon_id] as holon_ids, ${stateSql('r')},
      ${holonVisibleSql('fh', 'fc', viewer)} and ${holonVisibleSql('th', 'tc', viewer)} as visible,
      ${canEditHolonSql('fh', viewer)} or ${canEditHolonSql('th', viewer)} as editable
    from directory.relationships r ${relationshipJoinsSql} where r.id = ${id}`,
});

export const saveRelationship = statement.none({
  name: 'relationships.save',
  params: stateParams,
  sql: (state) => saveSql('directory.relationships', state),
});

/** Returns the JSON of the relationship. */
export const readRelationship = statement.maybeOne({
  name: 'relationships.read',
  params: rowParams,
  row: bodyRow,
  sql: ({ id, ...viewer }) =>
    sql`select ${relationshipSql(viewer)}::text as body from directory.relationships r ${relationshipJoinsSql} where r.id = ${id}`,
});
