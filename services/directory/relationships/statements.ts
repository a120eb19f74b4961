/**
 * Statements that list the relationships of a holon and update relationships (rules/memberships#relationship-list,
 * rules/memberships#updates; D48).
 */
import { sql, statement, t } from '#libs/infrastructure/sql';
import { bodyRow, listSql, pageParams } from '../lists/index.ts';
import { canEditHolonSql, belongsToVisibleHolonSql, holonVisibleSql, viewerParams } from '../visibility/index.ts';
import {
  relationshipJoinsSql,
  relationshipSql,
  relationshipTagSql,
  rowParams,
  saveSql,
  stateParams,
  stateSql,
  workflowRow,
  writtenRow,
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

const endsParams = { fromId: t.integer, toId: t.integer, journeyId: t.integer.nullable };

/** Locks the ends against concurrent creation of an equal relationship until the transaction ends. */
export const lockEnds = statement.none({
  name: 'relationships.lock-ends',
  params: endsParams,
  sql: ({ fromId, toId, journeyId }) => sql`
    select pg_advisory_xact_lock(hashtextextended(concat_ws('/', 'directory.relationship', ${fromId}::integer, ${toId}::integer, ${journeyId}::integer), 0))`,
});

/** Returns the relationship in this direction on this journey, or without one. */
export const findEqual = statement.maybeOne({
  name: 'relationships.find-equal',
  params: endsParams,
  row: { id: t.integer },
  sql: ({ fromId, toId, journeyId }) => sql`
    select id from directory.relationships
    where from_holon_id = ${fromId} and to_holon_id = ${toId} and journey_id is not distinct from ${journeyId} order by id limit 1`,
});

export const insertRelationship = statement.one({
  name: 'relationships.insert',
  params: {
    ...endsParams,
    stepId: t.integer.nullable,
    followUpAfter: t.date.nullable,
    responsiblePersonId: t.integer.nullable,
  },
  row: { id: t.integer },
  sql: ({ fromId, toId, journeyId, stepId, followUpAfter, responsiblePersonId }) => sql`
    insert into directory.relationships (from_holon_id, to_holon_id, journey_id, step_id, follow_up_after, responsible_person_id)
    values (${fromId}, ${toId}, ${journeyId}, ${stepId}, ${followUpAfter}, ${responsiblePersonId}) returning id`,
});

export const removeRelationship = statement.none({
  name: 'relationships.remove',
  params: { id: t.integer },
  sql: ({ id }) => sql`delete from directory.relationships where id = ${id}`,
});

/** Returns the JSON of the relationship. */
export const readRelationship = statement.maybeOne({
  name: 'relationships.read',
  params: rowParams,
  row: writtenRow,
  sql: ({ id, ...viewer }) =>
    sql`select ${relationshipSql(viewer)}::text as body, ${relationshipTagSql} as tag from directory.relationships r ${relationshipJoinsSql} where r.id = ${id}`,
});
