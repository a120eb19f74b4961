/** Statements on webhooks of the meeting provider. */
import { statement } from '#libs/orm';

/** $1 dedupe key, $2 delivery, $3 received at, $4 headers, $5 body, $6 outcome, $7 message. A repeated delivery finds its receipt. */
export const insertMeetingReceipt = statement(
  'receipts.insert-meeting',
  `insert into conversations.webhook_receipts as r
     (source, person_id, dedupe_key, delivery_id, received_at, headers, body, outcome, message)
   values ('meeting', '', $1, $2, $3::timestamptz, $4::jsonb, $5, $6, $7)
   on conflict (dedupe_key) do update
     set deliveries = r.deliveries + (r.delivery_id <> excluded.delivery_id)::integer, delivery_id = excluded.delivery_id
   returning r.id, (r.xmax = 0) as is_new`,
);

/**
 * Conversations of a meeting that have entered a step with a job lately: what waits longer is given up. $1 meeting, $2 days.
 */
export const findMeetingConversations = statement(
  'conversations.find-by-meeting',
  `select distinct c.id from conversations.pipeline_entries e join conversations.conversations c on c.id = e.conversation_id
   where e.entered_at > clock_timestamp() - make_interval(days => $2) and c.room ->> 'meetingId' = $1 order by c.id limit 100`,
);
