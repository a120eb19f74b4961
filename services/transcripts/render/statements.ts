/** Statements of the transcript file. */
import { sql, statement, t } from '#libs/sql';

/** The next rows in stored order, after this start and position. */
export const listRows = statement.many({
  name: 'transcript.page',
  params: { conversationId: t.integer, afterStart: t.bigint, afterPosition: t.integer, limit: t.integer },
  row: { startUs: t.bigint, position: t.integer, personId: t.integer, text: t.text },
  sql: ({ conversationId, afterStart, afterPosition, limit }) => sql`
    select start_us as "startUs", position, person_id as "personId", text from transcript_rows
    where conversation_id = ${conversationId} and (start_us, position) > (${afterStart}, ${afterPosition})
    order by start_us, position limit ${limit}`,
});

/** A row when rows of the conversation are attributed to this id. */
export const findUtterance = statement.maybeOne({
  name: 'transcript.spoke',
  params: { conversationId: t.integer, personId: t.integer },
  row: { position: t.integer },
  sql: ({ conversationId, personId }) => sql`
    select position from transcript_rows where conversation_id = ${conversationId} and person_id = ${personId} limit 1`,
});
