/** The object of a history with what the caller may do with it, and the pages of a history (W10). */
import { historyPageSql, historyParams } from '#libs/product/history';
import { type Sql, sql, statement, t } from '#libs/infrastructure/sql';
import { bodyRow } from '../../lists/index.ts';
import {
  canEditHolonSql,
  holonVisibleSql,
  seenHolonSql,
  type ViewerSql,
  viewerParams,
} from '../../visibility/index.ts';

/** Fields whose values are ids of holons. */
const holonFields = sql`('parent_id', 'holon_id', 'from_holon_id', 'to_holon_id')`;

/** Returns the SQL of the changes of entry `e`. Ids of holons that the caller cannot see are null (D48). */
function seenChangesSql(viewer: ViewerSql): Sql {
  const seen = (name: 'old' | 'new'): Sql => seenHolonSql(sql`(f.value ->> ${sql.literal(name)})::integer`, viewer);
  return sql`case when ${viewer.seesAll} then e.changes else (
    select json_object_agg(f.key, case when f.key in ${holonFields} then json_build_object('old', ${seen('old')}, 'new', ${seen('new')}) else f.value end)
    from json_each(e.changes) f) end`;
}

/** Returns a page. The name of an actor is that of the account's person, as long as both exist. */
export const listHistory = statement.one({
  name: 'directory.history.list',
  params: { ...historyParams, ...viewerParams },
  row: bodyRow,
  sql: ({ seesAll, accountId, ...params }) =>
    historyPageSql(
      params,
      sql`(select p.name from directory.accounts a join directory.people p on p.id = a.person_id where a.id = e.account_id)`,
      seenChangesSql({ seesAll, accountId }),
    ),
});

export const nameActors = statement.many({
  name: 'directory.history.name-actors',
  params: { ids: t.integer.array },
  row: { account_id: t.integer, name: t.text },
  sql: ({ ids }) => sql`
    select a.id as account_id, p.name from directory.accounts a join directory.people p on p.id = a.person_id where a.id = any(${ids})`,
});

const existingRow = { id: t.integer };
const accessRow = { id: t.integer, visible: t.boolean, editable: t.boolean };

export const findPerson = statement.maybeOne({
  name: 'directory.history.find-person',
  params: { id: t.integer },
  row: existingRow,
  sql: ({ id }) => sql`select id from directory.people where id = ${id}`,
});

export const findAccount = statement.maybeOne({
  name: 'directory.history.find-account',
  params: { id: t.integer },
  row: existingRow,
  sql: ({ id }) => sql`select id from directory.accounts where id = ${id}`,
});

/** Finds a journey by id or slug; an id wins. */
export const findJourney = statement.maybeOne({
  name: 'directory.history.find-journey',
  params: { id: t.integer, slug: t.text },
  row: existingRow,
  sql: ({ id, slug }) =>
    sql`select id from directory.journeys where id = ${id} or slug = ${slug} order by id = ${id} desc limit 1`,
});

/** Finds a class by `<object kind>/<slug>`. */
export const findClass = statement.maybeOne({
  name: 'directory.history.find-class',
  params: { path: t.text, seesRetired: t.boolean },
  row: existingRow,
  sql: ({ path, seesRetired }) =>
    sql`select id from directory.object_classes where object_kind || '/' || slug = ${path} and (is_active or ${seesRetired})`,
});

export const findHolon = statement.maybeOne({
  name: 'directory.history.find-holon',
  params: { id: t.integer, ...viewerParams },
  row: accessRow,
  sql: ({ id, ...viewer }) => sql`
    select h.id, ${holonVisibleSql('h', 'c', viewer)} as visible, ${canEditHolonSql('h', viewer)} as editable
    from directory.holons h join directory.object_classes c on c.id = h.class_id where h.id = ${id}`,
});

export const findMembership = statement.maybeOne({
  name: 'directory.history.find-membership',
  params: { id: t.integer, ...viewerParams },
  row: accessRow,
  sql: ({ id, ...viewer }) => sql`
    select m.id, ${holonVisibleSql('h', 'c', viewer)} as visible, ${canEditHolonSql('h', viewer)} as editable
    from directory.memberships m join directory.holons h on h.id = m.holon_id
    join directory.object_classes c on c.id = h.class_id where m.id = ${id}`,
});

export const findRelationship = statement.maybeOne({
  name: 'directory.history.find-relationship',
  params: { id: t.integer, ...viewerParams },
  row: accessRow,
  sql: ({ id, ...viewer }) => sql`
    select r.id, ${holonVisibleSql('fh', 'fc', viewer)} and ${holonVisibleSql('th', 'tc', viewer)} as visible,
      ${canEditHolonSql('fh', viewer)} or ${canEditHolonSql('th', viewer)} as editable
    from directory.relationships r
    join directory.holons fh on fh.id = r.from_holon_id join directory.object_classes fc on fc.id = fh.class_id
    join directory.holons th on th.id = r.to_holon_id join directory.object_classes tc on tc.id = th.class_id
    where r.id = ${id}`,
});
