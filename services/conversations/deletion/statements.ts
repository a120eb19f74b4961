/** Statements on deleted conversations (D67), and the only ones on the table behind the view of those that are not deleted. */
import { statement } from '#libs/orm';
import { nextUpdatedAt, titleColumns } from '../statements.ts';

/**
 * $1 ids, $2 instant, $3 reason, $4 by what. Booking and key of the workspace file are free for another conversation; that they were this
 * one's is kept with it.
 */
export const deleteConversations = statement(
  'deletion.delete',
  `with gone as (
     select c.id, (select b.id from conversations.bookings b where b.conversation_id = c.id) as booking_id,
       (select k.key from conversations.import_keys k where k.conversation_id = c.id) as import_key
     from conversations.conversations c where c.id = any($1::integer[])
   ), unbooked as (
     update conversations.bookings b set conversation_id = null where b.conversation_id = any($1)
   ), unkeyed as (
     delete from conversations.import_keys k where k.conversation_id = any($1)
   )
   update conversations.all_conversations c
   set deleted_at = $2::timestamptz,
     deletion = jsonb_strip_nulls(jsonb_build_object('reason', $3::text, 'by', $4::text, 'booking_id', gone.booking_id,
       'import_key', gone.import_key))
   from gone where c.id = gone.id and c.deleted_at is null
   returning c.id`,
);

export interface RestoredRow {
  readonly id: number;
  readonly reason: string;
  readonly by: string;
  /** UTC without offset. */
  readonly deleted_at: string;
  /** Whether the booking that it was made for is its own again; null when there was none. */
  readonly has_booking: boolean | null;
}

/** $1 id. What took its place as the booking's or the key's conversation in the meantime keeps it. No row: there is no such deleted conversation. */
export const restoreConversation = statement(
  'deletion.restore',
  `with old as (
     select id, deleted_at, deletion, (deletion ->> 'booking_id')::integer as booking_id
     from conversations.all_conversations where id = $1 and deleted_at is not null for update
   ), restored as (
     update conversations.all_conversations c set deleted_at = null, deletion = null, updated_at = ${nextUpdatedAt}
     from old where c.id = old.id returning c.id
   ), keyed as (
     insert into conversations.import_keys (key, conversation_id)
     select deletion ->> 'import_key', id from old where deletion ? 'import_key' on conflict do nothing
   ), booked as (
     update conversations.bookings b set conversation_id = old.id, cancelled = false
     from old where b.id = old.booking_id and b.conversation_id is null returning b.id
   )
   select old.id, old.deletion ->> 'reason' as reason, old.deletion ->> 'by' as by, old.deleted_at at time zone 'UTC' as deleted_at,
     case when old.booking_id is not null then exists (select from booked) end as has_booking
   from old join restored on restored.id = old.id`,
);

/** $1 most rows; latest first. */
export const listDeleted = statement(
  'deletion.list',
  `select c.id, ${titleColumns}, c.start_at at time zone 'UTC' as start, c.deleted_at at time zone 'UTC' as deleted_at,
     c.deletion ->> 'reason' as reason, c.deletion ->> 'by' as by
   from conversations.all_conversations c where c.deleted_at is not null order by c.deleted_at desc, c.id desc limit $1`,
);

/** $1 id. No row: there is nothing of it any more. */
export const findState = statement(
  'deletion.find-state',
  `select c.deleted_at is not null as is_deleted from conversations.all_conversations c where c.id = $1`,
  { pipelined: 'always' },
);

/** $1 deleted before, $2 most rows. Removes them with all that hangs on them. */
export const removeExpired = statement(
  'deletion.remove-expired',
  `delete from conversations.all_conversations where id in (
     select c.id from conversations.all_conversations c where c.deleted_at < $1::timestamptz
     order by c.deleted_at, c.id limit $2 for update skip locked)
   returning id`,
);

/** $1 deleted before. */
export const countExpired = statement(
  'deletion.count-expired',
  `select count(*) as count from conversations.all_conversations where deleted_at < $1::timestamptz`,
);
