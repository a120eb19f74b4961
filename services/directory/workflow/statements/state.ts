/** Where a membership or a relationship is, and how it is moved. */

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

export const stateSql = (row: string): string => `${row}.journey_id, j.slug as journey_slug, ${row}.step_id, s.slug as step_slug,
     ${row}.follow_up_after::text as follow_up_after, ${row}.responsible_person_id`;

export const saveSql = (table: string): string => `update directory.${table}
   set journey_id = $2::integer, step_id = $3::integer, follow_up_after = $4::date, responsible_person_id = $5::integer
   where id = $1::integer`;
