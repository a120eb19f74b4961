import { type RowOf, sql, t } from '#libs/sql';

/** What every shape of discovery shows of a conversation, from table alias `c`. */
export const shown = {
  row: {
    id: t.integer,
    journey_id: t.integer.nullable,
    step_id: t.integer.nullable,
    event_id: t.integer.nullable,
    /** `{1,2}`, in order. */
    participants: t.text,
    connected: t.text,
    /** UTC without offset. */
    start: t.timestamp.nullable,
    finish: t.timestamp.nullable,
  },
  columns: sql`c.id, c.journey_id, c.step_id, c.event_id,
    c.participant_ids::text as participants, c.connected_ids::text as connected,
    c.start_at at time zone 'UTC' as start, c.finish_at at time zone 'UTC' as finish`,
};
export type ShownRow = RowOf<typeof shown.row>;
