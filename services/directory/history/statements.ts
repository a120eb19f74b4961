/** Whether a caller may read the history of an object, and its pages (W10). */
import { historyPageSql, historyParams } from '#libs/history';
import { type Sql, sql, type SqlPart, statement, t } from '#libs/sql';
import { bodyRow } from '../lists/index.ts';
import { canEditHolonSql, holonVisibleSql, type ViewerSql, viewerParams } from '../visibility/index.ts';

/** A page; the actor's name is that of the account's person, as long as both exist. */
export const listHistory = statement.one({
  name: 'directory.history.list',
  params: historyParams,
  row: bodyRow,
  sql: (params) =>
    historyPageSql(
      params,
      sql`(select p.name from directory.accounts a join directory.people p on p.id = a.person_id where a.id = e.account_id)`,
    ),
});

/** `ownPersonId`: the person of the caller's account, 0 for none. `mayEditWorkspace`: see W5. */
const accessParams = {
  id: t.integer.nullable,
  name: t.text.nullable,
  ownPersonId: t.integer,
  mayEditWorkspace: t.boolean,
  isSuperuser: t.boolean,
  ...viewerParams,
};

interface AccessSql extends ViewerSql {
  readonly id: SqlPart;
  readonly name: SqlPart;
  readonly ownPersonId: SqlPart;
  readonly mayEditWorkspace: SqlPart;
  readonly isSuperuser: SqlPart;
}

function access(kind: string, select: (params: AccessSql) => Sql) {
  return statement.maybeOne({
    name: `directory.history.access-${kind}`,
    params: accessParams,
    row: { id: t.integer, visible: t.boolean, editable: t.boolean },
    sql: select,
  });
}

/** By kind: the object with this id or, where it has one, this slug. */
export const findAccess = {
  people: access(
    'people',
    ({ id, seesAll, ownPersonId }) =>
      sql`select id, true as visible, ${seesAll} or id = ${ownPersonId} as editable from directory.people where id = ${id}`,
  ),
  holons: access(
    'holons',
    ({
      id,
      ...viewer
    }) => sql`select h.id, ${holonVisibleSql('h', 'c', viewer)} as visible, ${canEditHolonSql('h', viewer)} as editable
      from directory.holons h join directory.object_classes c on c.id = h.class_id where h.id = ${id}`,
  ),
  memberships: access(
    'memberships',
    ({
      id,
      ...viewer
    }) => sql`select m.id, ${holonVisibleSql('h', 'c', viewer)} as visible, ${canEditHolonSql('h', viewer)} as editable
      from directory.memberships m join directory.holons h on h.id = m.holon_id join directory.object_classes c on c.id = h.class_id
      where m.id = ${id}`,
  ),
  relationships: access(
    'relationships',
    ({
      id,
      ...viewer
    }) => sql`select r.id, ${holonVisibleSql('fh', 'fc', viewer)} and ${holonVisibleSql('th', 'tc', viewer)} as visible,
        ${canEditHolonSql('fh', viewer)} or ${canEditHolonSql('th', viewer)} as editable
      from directory.relationships r
      join directory.holons fh on fh.id = r.from_holon_id join directory.object_classes fc on fc.id = fh.class_id
      join directory.holons th on th.id = r.to_holon_id join directory.object_classes tc on tc.id = th.class_id
      where r.id = ${id}`,
  ),
  journeys: access(
    'journeys',
    ({
      id,
      name,
      mayEditWorkspace,
    }) => sql`select id, true as visible, ${mayEditWorkspace} as editable from directory.journeys
      where id = ${id} or (${id} is null and slug = ${name})`,
  ),
  classes: access(
    'classes',
    ({
      id,
      name,
      mayEditWorkspace,
    }) => sql`select id, true as visible, ${mayEditWorkspace} as editable from directory.object_classes
      where id = ${id} or (${id} is null and object_kind || '/' || slug = ${name})`,
  ),
  accounts: access(
    'accounts',
    ({ id, isSuperuser }) =>
      sql`select id, true as visible, ${isSuperuser} as editable from directory.accounts where id = ${id}`,
  ),
} as const;
