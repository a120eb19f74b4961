/** Writes of memberships (rules/memberships#updates, rules/memberships#bulk-add). */
import { statement } from '#libs/orm';
import { canEditHolonSql, holonVisibleSql } from '../../visibility.ts';
import { membershipJoinsSql, membershipWithBothSql, saveSql, stateSql } from '../../workflow/index.ts';

/** A person is at most once on one journey in one holon. */
export const membershipUnique = 'memberships__person_id_holon_id_journey_id__unique';

/** `$1` = membership; holds back other writers of it until the transaction ends. The row is read by the next statement, as it is then. */
export const lockMembership = statement(
  'memberships.lock',
  'select id from directory.memberships where id = $1::integer for no key update',
);

/** `$1` = membership, `$2`, `$3` = viewer; a WorkflowRow. */
export const findMembership = statement(
  'memberships.find',
  `select array[m.person_id] as person_ids, array[m.holon_id] as holon_ids, ${stateSql('m')},
     ${holonVisibleSql('h', 'c', 2)} as visible, ${canEditHolonSql('h', 2)} as editable
   from directory.memberships m ${membershipJoinsSql('person', 'holon')} where m.id = $1::integer`,
);

/** `$1` = membership, `$2` = journey, `$3` = step, `$4` = date, `$5` = responsible person; all as they shall be. */
export const saveMembership = statement('memberships.save', saveSql('memberships'));

/** `$1` = membership, `$2`, `$3` = viewer; its JSON with person and holon. */
export const readMembership = statement(
  'memberships.read',
  `select ${membershipWithBothSql(2)}::text as body from directory.memberships m ${membershipJoinsSql('person', 'holon')} where m.id = $1::integer`,
);

/**
 * `$1` = JSON list of NewMembership, `$2` = holon; writes them and returns id, person and journey. What somebody else wrote meanwhile is left
 * alone and absent from the result.
 */
export const insertMemberships = statement(
  'memberships.insert',
  `insert into directory.memberships (person_id, holon_id, journey_id, step_id, follow_up_after, responsible_person_id)
   select i.person_id, $2::integer, i.journey_id, i.step_id, i.follow_up_after, i.responsible_person_id
   from jsonb_to_recordset($1::jsonb) as i(index integer, person_id integer, journey_id integer, step_id integer, follow_up_after date,
     responsible_person_id integer)
   order by i.person_id, i.journey_id
   on conflict on constraint ${membershipUnique} do nothing
   returning id, person_id, journey_id`,
);
