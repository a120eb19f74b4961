/** Statements that read the rows and the window of the transcript file. */
import { sql, statement, t } from '#libs/infrastructure/sql';

/** Returns the next rows in stored order, after this start and position, up to the limit. */
export const listRows = statement.many({
  name: 'transcript.page',
  params: {
    conversationId: t.integer,
    afterStart: t.bigint,
    afterPosition: t.integer,
    skipped: t.integer,
    limit: t.integer,
  },
  row: { startUs: t.bigint, position: t.integer, endUs: t.bigint, personId: t.integer, text: t.text },
  sql: ({ conversationId, afterStart, afterPosition, skipped, limit }) => sql`
    select start_us as "startUs", position, end_us as "endUs", person_id as "personId", text from transcript_rows
    where conversation_id = ${conversationId} and (start_us, position) > (${afterStart}, ${afterPosition})
    order by start_us, position limit ${limit} offset ${skipped}`,
});

/** Returns a row when rows of the conversation are attributed to this id. */
export const findUtterance = statement.maybeOne({
  name: 'transcript.spoke',
  params: { conversationId: t.integer, personId: t.integer },
  row: { position: t.integer },
  sql: ({ conversationId, personId }) => sql`
    select position from transcript_rows where conversation_id = ${conversationId} and person_id = ${personId} limit 1`,
});

/**
 * Returns the window whose start is the origin of the rows' times. Returns no row for a bulk import, even if a later
 * run has found a window.
 */
export const findWindow = statement.maybeOne({
  name: 'transcript.window',
  params: { conversationId: t.integer },
  row: { start: t.text, end: t.text },
  sql: ({ conversationId }) => sql`
    select iso_utc(window_start) as start, iso_utc(window_end) as "end" from import_evidence
    where conversation_id = ${conversationId} and window_start is not null
      and (status = 'imported' or not exists (select from transcript_rows where conversation_id = ${conversationId}))`,
});
