/** Writes of memberships and relationships, and of the notes that come with them. */
import { statement } from '#libs/orm';
import { noteItemSql } from '../../public-json.ts';
import { canEditHolonSql, holonVisibleSql } from '../../visibility.ts';
import { membershipJoinsSql, membershipWithBothSql, relationshipJoinsSql, relationshipSql } from '../../workflow/statements/json.ts';

/** A person is at most once on one journey in one holon. */
export const membershipUnique = 'memberships__person_id_holon_id_journey_id__unique';

/** Where a membership or a relationship is now, for the caller. */
export interface WorkflowRow {
  /** The people and holons whose feeds its notes belong to. */
  readonly person_ids: readonly number[];
  readonly holon_ids: readonly number[];
  readonly journey_id: number | null;
  readonly journey_slug: string | null;
  readonly step_id: number | null;
  readonly step_slug: string | null;
  readonly follow_up_after: string | null;
  readonly responsible_person_id: number | null;
  readonly visible: boolean;
  readonly editable: boolean;
}

const stateSql = (row: string): string => `${row}.journey_id, j.slug as journey_slug, ${row}.step_id, s.slug as step_slug,
     ${row}.follow_up_after::text as follow_up_after, ${row}.responsible_person_id`;

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

const saveSql = (table: string): string => `update directory.${table}
   set journey_id = $2::integer, step_id = $3::integer, follow_up_after = $4::date, responsible_person_id = $5::integer
   where id = $1::integer`;

/** `$1` = membership, `$2` = journey, `$3` = step, `$4` = date, `$5` = responsible person; all as they shall be. */
export const saveMembership = statement('memberships.save', saveSql('memberships'));
/** As `saveMembership`. */
export const saveRelationship = statement('relationships.save', saveSql('relationships'));

/** `$1` = membership, `$2`, `$3` = viewer; its JSON with person and holon. */
export const readMembership = statement(
  'memberships.read',
  `select ${membershipWithBothSql(2)}::text as body from directory.memberships m ${membershipJoinsSql('person', 'holon')} where m.id = $1::integer`,
);

/** `$1` = relationship, `$2`, `$3` = viewer; its JSON. */
export const readRelationship = statement(
  'relationships.read',
  `select ${relationshipSql(2)}::text as body from directory.relationships r ${relationshipJoinsSql} where r.id = $1::integer`,
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

/** `$1` = holon, `$2` = people, `$3` = journeys; id, person and journey of the memberships that are there. */
export const findPresent = statement(
  'memberships.find-present',
  `select id, person_id, journey_id from directory.memberships
   where holon_id = $1::integer and person_id = any($2::integer[]) and journey_id = any($3::integer[])`,
);

/**
 * `$1` = text, `$2` = author or null, `$3` = membership or null, `$4` = relationship or null, `$5` = people, `$6` = holons. Writes the note
 * into every feed; one row with its id and its JSON.
 */
export const insertNote = statement(
  'notes.insert',
  `with note as (
     insert into directory.notes (body, author_person_id, membership_id, relationship_id)
     values ($1::text, (select id from directory.people where id = $2::integer), $3::integer, $4::integer)
     returning *
   ), to_people as (
     insert into directory.person_notes (person_id, note_id, created_at)
     select distinct person_id, note.id, note.created_at from note, unnest($5::integer[]) as person_id
   ), to_holons as (
     insert into directory.holon_notes (holon_id, note_id, created_at)
     select distinct holon_id, note.id, note.created_at from note, unnest($6::integer[]) as holon_id
   )
   select note.id, ${noteItemSql('note', 'author')}::text as body
   from note left join directory.people author on author.id = note.author_person_id`,
);
