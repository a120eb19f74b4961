/** Statements on webhooks of the meeting provider. */
import { sql, statement, t } from '#libs/sql';

/** Conversations of a meeting that have entered a step with a job in these days: what waits longer is given up. */
export const findMeetingConversations = statement.many({
  name: 'conversations.find-by-meeting',
  params: { meetingId: t.text, days: t.integer },
  row: { id: t.integer },
  sql: ({ meetingId, days }) => sql`
    select distinct c.id from conversations.pipeline_entries e join conversations.conversations c on c.id = e.conversation_id
    where e.entered_at > statement_timestamp() - make_interval(days => ${days}) and c.room ->> 'meetingId' = ${meetingId}
    order by c.id limit 100`,
});
