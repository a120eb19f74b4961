/** Statements for operators. */
import { statement } from '#libs/orm';
import { conversationColumns, nextUpdatedAt, titleColumns } from '../statements.ts';

/** For operators. $1 journey, $2 event, $3 person, $4 since, $5 until, $6 before this id, each null for any; $7 limit. */
export const listConversations = statement(
  'conversations.admin-list',
  `select c.id, ${titleColumns}, c.journey_id, c.step_id, c.event_id, c.participant_ids::text as participants,
     c.start_at at time zone 'UTC' as start, c.finish_at at time zone 'UTC' as finish, c.updated_at at time zone 'UTC' as updated_at
   from conversations.conversations c
   where ($1::integer is null or c.journey_id = $1) and ($2::integer is null or c.event_id = $2)
     and ($3::integer is null or c.participant_ids @> array[$3::integer])
     and ($4::timestamptz is null or c.start_at >= $4) and ($5::timestamptz is null or c.start_at < $5)
     and ($6::integer is null or c.id < $6)
   order by c.id desc limit $7`,
);

/** $1 id, $2 holon. No row: absent, or linked already. */
export const connectHolon = statement(
  'conversations.connect',
  `update conversations.conversations c
   set connected_ids = c.connected_ids || $2::integer, updated_at = ${nextUpdatedAt}
   where c.id = $1 and not c.connected_ids @> array[$2::integer]
   returning c.id`,
);

/** $1 id, $2 holon. No row: absent, or not linked. */
export const disconnectHolon = statement(
  'conversations.disconnect',
  `update conversations.conversations c
   set connected_ids = array_remove(c.connected_ids, $2::integer), updated_at = ${nextUpdatedAt}
   where c.id = $1 and c.connected_ids @> array[$2::integer]
   returning c.id`,
);

/** $1 id; deleted or not. No row: there is nothing of it any more. */
export const showConversation = statement(
  'deletion.show',
  `select ${conversationColumns}, ${titleColumns}, c.audio_blob_id, c.created_at at time zone 'UTC' as created_at,
     c.deleted_at at time zone 'UTC' as deleted_at, c.deletion ->> 'reason' as reason, c.deletion ->> 'by' as by,
     coalesce(c.deletion ->> 'import_key', (select k.key from conversations.import_keys k where k.conversation_id = c.id)) as import_key,
     (select count(*)::integer from conversations.notes n where n.conversation_id = c.id) as notes,
     b.id as booking_id, b.cancelled as booking_cancelled
   from conversations.all_conversations c
   left join conversations.bookings b on b.conversation_id = c.id or b.id = (c.deletion ->> 'booking_id')::integer
   where c.id = $1 limit 1`,
);
