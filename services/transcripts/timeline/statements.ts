/** Statements of the timeline (W9). */
import { sql, statement, t } from '#libs/infrastructure/sql';

/** Returns the latest import; no row when there was none. */
export const findImport = statement.maybeOne({
  name: 'timeline.import',
  params: { conversationId: t.integer },
  row: {
    at: t.text,
    status: t.text,
    raw: t.integer.nullable,
    accepted: t.integer.nullable,
    installed_segments: t.integer.nullable,
  },
  sql: ({ conversationId }) => sql`
    select iso_utc(recorded_at) as at, status, raw, accepted, installed_segments from import_evidence
    where conversation_id = ${conversationId} and status <> 'never_ran'`,
});
