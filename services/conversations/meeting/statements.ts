/** Statements on webhooks of the meeting provider. */
import { statement } from '#libs/orm';

/**
 * Conversations of a meeting that have entered a step with a job lately: what waits longer is given up. $1 meeting, $2 days.
 */
export const findMeetingConversations = statement(
  'conversations.find-by-meeting',
  `select distinct c.id from conversations.pipeline_entries e join conversations.conversations c on c.id = e.conversation_id
   where e.entered_at > clock_timestamp() - make_interval(days => $2) and c.room ->> 'meetingId' = $1 order by c.id limit 100`,
);
