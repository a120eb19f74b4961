/** Statements that write memberships (rules/memberships#updates, rules/memberships#bulk-add). */
import { type RowOf, sql, statement, t } from '#libs/infrastructure/sql';
import { canEditHolonSql, holonVisibleSql, viewerParams } from '../../visibility/index.ts';
import {
  membershipJoinsSql,
  membershipTagSql,
  membershipWithBothSql,
  rowParams,
  saveSql,
  stateParams,
  stateSql,
  workflowRow,
  writtenRow,
} from '../../workflow/index.ts';

/** Unique constraint: a person has at most one membership per journey and holon. */
export const membershipUnique = 'memberships__person_id_holon_id_journey_id__unique';

/** Columns that identify a membership within a holon. */
export const membershipRow = { id: t.integer, person_id: t.integer, journey_id: t.integer };
export type MembershipRow = RowOf<typeof membershipRow>;

/** Locks the membership until the transaction ends. Read it in the next statement, which sees the latest version. */
export const lockMembership = statement.none({
  name: 'memberships.lock',
  params: { id: t.integer },
  sql: ({ id }) => sql`select id from directory.memberships where id = ${id} for no key update`,
});

export const findMembership = statement.maybeOne({
  name: 'memberships.find',
  params: rowParams,
  row: workflowRow,
  sql: ({ id, ...viewer }) => sql`
    select array[m.person_id] as person_ids, array[m.holon_id] as holon_ids, ${stateSql('m')},
      ${holonVisibleSql('h', 'c', viewer)} as visible, ${canEditHolonSql('h', viewer)} as editable
    from directory.memberships m ${membershipJoinsSql('person', 'holon')} where m.id = ${id}`,
});

export const saveMembership = statement.none({
  name: 'memberships.save',
  params: stateParams,
  sql: (state) => saveSql('directory.memberships', state),
});

export const removeMembership = statement.none({
  name: 'memberships.remove',
  params: { id: t.integer },
  sql: ({ id }) => sql`delete from directory.memberships where id = ${id}`,
});

/** Returns the JSON of the membership with person and holon. */
export const readMembership = statement.maybeOne({
  name: 'memberships.read',
  params: rowParams,
  row: writtenRow,
  sql: ({ id, ...viewer }) =>
    sql`select ${membershipWithBothSql(viewer)}::text as body, ${membershipTagSql} as tag
      from directory.memberships m ${membershipJoinsSql('person', 'holon')} where m.id = ${id}`,
});

/** Inserts a JSON list of NewMembership. Memberships that a concurrent writer inserted are absent from the result. */
export const insertMemberships = statement.many({
  name: 'memberships.insert',
  params: { rows: t.json, holonId: t.integer },
  row: membershipRow,
  sql: ({ rows, holonId }) => sql`
    insert into directory.memberships (person_id, holon_id, journey_id, step_id, follow_up_after, responsible_person_id)
   select i.person_id, ${holonId}, i.journey_id, i.step_id, i.follow_up_after, i.responsible_person_id
   from jsonb_to_recordset(${rows}) as i(index integer, person_id integer, journey_id integer, step_id integer, follow_up_after date,
     responsible_person_id integer)
   order by i.person_id, i.journey_id
   on conflict on constraint ${sql.id(membershipUnique)} do nothing
   returning id, person_id, journey_id`,
});

export const tryLockHolonForBulkAdd = statement.maybeOne({
  name: 'memberships.take-bulk-turn',
  params: { holonId: t.integer, ...viewerParams },
  row: {
    visible: t.boolean,
    editable: t.boolean,
    /** True if the lock was acquired; it lasts until the transaction ends. Null without edit rights. */
    locked: t.boolean.nullable,
  },
  sql: ({ holonId, ...viewer }) => sql`
    select visible, editable,
      case when visible and editable then pg_try_advisory_xact_lock(hashtextextended('directory.bulk-add/' || id, 0)) end as locked
    from (select h.id, ${holonVisibleSql('h', 'c', viewer)} as visible, ${canEditHolonSql('h', viewer)} as editable
          from directory.holons h join directory.object_classes c on c.id = h.class_id where h.id = ${holonId} offset 0) as own`,
});

/** Returns the existing memberships of people on journeys in a holon. */
export const findPresent = statement.many({
  name: 'memberships.find-present',
  params: { holonId: t.integer, personIds: t.integer.array, journeyIds: t.integer.array },
  row: membershipRow,
  sql: ({ holonId, personIds, journeyIds }) => sql`
    select id, person_id, journey_id from directory.memberships
    where holon_id = ${holonId} and person_id = any(${personIds}) and journey_id = any(${journeyIds})`,
});
