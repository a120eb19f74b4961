/** Where a membership or a relationship is, and how it is moved (rules/memberships#updates; D46, D46a). */
import { type RowOf, type Sql, sql, type SqlPart, t } from '#libs/sql';
import { viewerParams } from '../../viewer.ts';

/** Parameters of what is asked about one row for the caller. */
export const rowParams = { id: t.integer, ...viewerParams };

/** Where a membership or a relationship is now, for the caller. */
export const workflowRow = {
  /** The people and holons whose feeds its notes belong to. */
  person_ids: t.integer.array,
  holon_ids: t.integer.array,
  journey_id: t.integer.nullable,
  journey_slug: t.text.nullable,
  step_id: t.integer.nullable,
  step_slug: t.text.nullable,
  follow_up_after: t.text.nullable,
  responsible_person_id: t.integer.nullable,
  visible: t.boolean,
  editable: t.boolean,
};
export type WorkflowRow = RowOf<typeof workflowRow>;

export function stateSql(alias: string): Sql {
  const row = sql.id(alias);
  return sql`${row}.journey_id, j.slug as journey_slug, ${row}.step_id, s.slug as step_slug,
     ${row}.follow_up_after::text as follow_up_after, ${row}.responsible_person_id`;
}

/** A row as it shall be. */
export const stateParams = {
  id: t.integer,
  journeyId: t.integer.nullable,
  stepId: t.integer.nullable,
  followUpAfter: t.date.nullable,
  responsiblePersonId: t.integer.nullable,
};

export function saveSql(table: string, state: Readonly<Record<keyof typeof stateParams, SqlPart>>): Sql {
  return sql`update ${sql.id(table)}
   set journey_id = ${state.journeyId}, step_id = ${state.stepId}, follow_up_after = ${state.followUpAfter},
     responsible_person_id = ${state.responsiblePersonId}
   where id = ${state.id}`;
}
