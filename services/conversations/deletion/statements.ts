/**
 * Statements on deleted conversations (D67). Only these statements and those on personal data use the table behind the
 * view.
 */
import { sql, statement, t } from '#libs/infrastructure/sql';
import { nextUpdatedAt, titleSource, wholeConversation } from '../statements.ts';
import type { DeletionReason } from './contract.ts';

/**
 * Deletes a conversation. Releases its booking and import key, and stores both with the deletion. Returns no row when
 * the conversation does not exist.
 */
export const markDeleted = statement.maybeOne({
  name: 'deletion.delete',
  params: { id: t.integer, at: t.instant, reason: t.text.as<DeletionReason>(), by: t.text },
  row: { id: t.integer, event_id: t.integer.nullable, participants: t.text },
  sql: ({ id, at, reason, by }) => sql`
    with gone as (
      select c.id, (select b.id from conversations.bookings b where b.conversation_id = c.id) as booking_id,
        (select k.key from conversations.import_keys k where k.conversation_id = c.id) as import_key
      from conversations.conversations c where c.id = ${id}
    ), unbooked as (
      update conversations.bookings b set conversation_id = null where b.conversation_id = ${id}
    ), unkeyed as (
      delete from conversations.import_keys k where k.conversation_id = ${id}
    )
    update conversations.all_conversations c
    set deleted_at = ${at},
      deletion = jsonb_strip_nulls(jsonb_build_object('reason', ${reason}, 'by', ${by}, 'booking_id', gone.booking_id,
        'import_key', gone.import_key))
    from gone where c.id = gone.id and c.deleted_at is null
    returning c.id, c.event_id, c.participant_ids::text as participants`,
});

const deletionRow = { id: t.integer, reason: t.text.as<DeletionReason>(), by: t.text, deleted_at: t.timestamp };

/**
 * Restores a conversation. Reclaims its booking and import key unless another conversation has them. `has_booking` is
 * whether the booking was reclaimed, null without a booking. Returns no row when the conversation does not exist or is
 * not deleted.
 */
export const restoreConversation = statement.maybeOne({
  name: 'deletion.restore',
  params: { id: t.integer },
  row: { ...deletionRow, has_booking: t.boolean.nullable },
  sql: ({ id }) => sql`
    with old as (
      select id, deleted_at, deletion, (deletion ->> 'booking_id')::integer as booking_id
      from conversations.all_conversations where id = ${id} and deleted_at is not null for update
    ), restored as (
      update conversations.all_conversations c set deleted_at = null, deletion = null, updated_at = ${nextUpdatedAt}
      from old where c.id = old.id returning c.id
    ), keyed as (
      insert into conversations.import_keys (key, conversation_id)
      select deletion ->> 'import_key', id from old where deletion ? 'import_key' on conflict do nothing
    ), booked as (
      update conversations.bookings b set conversation_id = old.id, cancelled = false, former_conversation_id = null
      from old where b.id = old.booking_id and b.conversation_id is null returning b.id
    )
    select old.id, old.deletion ->> 'reason' as reason, old.deletion ->> 'by' as by, old.deleted_at at time zone 'UTC' as deleted_at,
      case when old.booking_id is not null then exists (select from booked) end as has_booking
    from old join restored on restored.id = old.id`,
});

/** Returns deleted conversations, latest deletion first. */
export const listDeleted = statement.many({
  name: 'deletion.list',
  params: { at: t.instant.nullable, id: t.integer.nullable, limit: t.integer },
  row: { ...deletionRow, ...titleSource.row, start: t.timestamp.nullable },
  sql: ({ at, id, limit }) => sql`
    select c.id, ${titleSource.columns}, c.start_at at time zone 'UTC' as start, c.deleted_at at time zone 'UTC' as deleted_at,
      c.deletion ->> 'reason' as reason, c.deletion ->> 'by' as by
    from conversations.all_conversations c where c.deleted_at is not null
      and (${at} is null or (c.deleted_at, c.id) < (${at}, ${id})) order by c.deleted_at desc, c.id desc limit ${limit}`,
});

/** Returns a conversation with all its data, deleted or not. Returns no row when it does not exist. */
export const findAnyConversation = statement.maybeOne({
  name: 'deletion.show',
  params: { id: t.integer },
  row: {
    ...wholeConversation.row,
    ...titleSource.row,
    audio_blob_id: t.integer.nullable,
    created_at: t.timestamp,
    deleted_at: t.timestamp.nullable,
    reason: t.text.as<DeletionReason>().nullable,
    by: t.text.nullable,
    import_key: t.text.nullable,
    notes: t.integer,
    booking_id: t.integer.nullable,
    booking_cancelled: t.boolean.nullable,
  },
  sql: ({ id }) => sql`
    select ${wholeConversation.columns}, ${titleSource.columns}, c.audio_blob_id, c.created_at at time zone 'UTC' as created_at,
      c.deleted_at at time zone 'UTC' as deleted_at, c.deletion ->> 'reason' as reason, c.deletion ->> 'by' as by,
      coalesce(c.deletion ->> 'import_key', (select k.key from conversations.import_keys k where k.conversation_id = c.id)) as import_key,
      (select count(*)::integer from conversations.notes n where n.conversation_id = c.id) as notes,
      b.id as booking_id, b.cancelled as booking_cancelled
    from conversations.all_conversations c
    left join conversations.bookings b on b.conversation_id = c.id or b.id = (c.deletion ->> 'booking_id')::integer
    where c.id = ${id} limit 1`,
});

/** Returns whether a conversation is deleted. Returns no row when it does not exist. */
export const findState = statement.maybeOne({
  name: 'deletion.find-state',
  params: { id: t.integer },
  row: { is_deleted: t.boolean },
  pipelined: true,
  sql: ({ id }) =>
    sql`select c.deleted_at is not null as is_deleted from conversations.all_conversations c where c.id = ${id}`,
});

/** Returns the state of each conversation, one row per id. */
export const listStates = statement.many({
  name: 'deletion.list-states',
  params: { ids: t.integer.array },
  row: { id: t.integer, state: t.text.as<'present' | 'deleted' | 'gone'>() },
  sql: ({ ids }) => sql`
    select i.id, case when c.id is null then 'gone' when c.deleted_at is null then 'present' else 'deleted' end as state
    from unnest(${ids}) as i (id) left join conversations.all_conversations c on c.id = i.id`,
});

/** Counts conversations of a holon (as event or connected), a journey or a step, deleted ones included (W14). */
export const countUses = statement.one({
  name: 'deletion.count-uses',
  params: { holonId: t.integer.nullable, journeyId: t.integer.nullable, stepId: t.integer.nullable },
  row: { count: t.integer },
  sql: ({ holonId, journeyId, stepId }) => sql`
    select count(*)::integer as count from (
      select id from conversations.all_conversations where event_id = ${holonId}
      union select id from conversations.all_conversations where connected_ids @> array[${holonId}::integer]
      union select id from conversations.all_conversations where journey_id = ${journeyId}
      union select id from conversations.all_conversations where step_id = ${stepId} and deleted_at is null
      union select id from conversations.all_conversations where step_id = ${stepId} and deleted_at is not null
    ) as used`,
});

/** Removes expired conversations with their dependent rows, oldest deletion first. */
export const removeExpired = statement.many({
  name: 'deletion.remove-expired',
  params: { deletedBefore: t.instant, limit: t.integer },
  row: { id: t.integer },
  sql: ({ deletedBefore, limit }) => sql`
    delete from conversations.all_conversations where id in (
      select c.id from conversations.all_conversations c where c.deleted_at < ${deletedBefore}
      order by c.deleted_at, c.id limit ${limit} for update skip locked)
    returning id`,
});

export const countExpired = statement.one({
  name: 'deletion.count-expired',
  params: { deletedBefore: t.instant },
  row: { count: t.bigint },
  sql: ({ deletedBefore }) =>
    sql`select count(*) as count from conversations.all_conversations where deleted_at < ${deletedBefore}`,
});
