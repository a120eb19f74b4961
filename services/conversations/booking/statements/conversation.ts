/** Statements on conversations that are booked. */
import { sql, statement, t } from '#libs/sql';
import { nextUpdatedAt } from '../../statements.ts';

/**
 * Joins a conversation into the one that is kept, both of one booking: stores and room of the kept one win, participants are joined, notes
 * move. `joinedIsLater`: bounds and `config.booking` are those of the joined one.
 */
export const joinConversations = statement.none({
  name: 'bookings.join-conversations',
  params: { kept: t.integer, joined: t.integer, joinedIsLater: t.boolean },
  sql: ({ kept, joined, joinedIsLater }) => sql`
    with moved as (update conversations.notes set conversation_id = ${kept} where conversation_id = ${joined})
    update conversations.conversations c
    set infos = o.infos || c.infos,
        config = o.config || c.config || case when ${joinedIsLater} then jsonb_build_object('booking', o.config -> 'booking') else '{}' end,
        room = coalesce(c.room, o.room),
        start_at = case when ${joinedIsLater} then o.start_at else c.start_at end,
        finish_at = case when ${joinedIsLater} then o.finish_at else c.finish_at end,
        participant_ids = c.participant_ids || array(
          select p.id from unnest(o.participant_ids) with ordinality as p (id, position)
          where p.id <> all (c.participant_ids) order by p.position),
        updated_at = ${nextUpdatedAt}
    from conversations.conversations o
    where c.id = ${kept} and o.id = ${joined}`,
});

/** Bounds, `config.booking` and participants, the whole list. */
export const updateBooked = statement.none({
  name: 'conversations.update-booked',
  params: { id: t.integer, start: t.instant.nullable, finish: t.instant.nullable, booking: t.json, participantIds: t.integer.array },
  sql: ({ id, start, finish, booking, participantIds }) => sql`
    update conversations.conversations c
    set start_at = ${start}, finish_at = ${finish}, config = c.config || jsonb_build_object('booking', ${booking}),
        participant_ids = ${participantIds}, updated_at = ${nextUpdatedAt}
    where c.id = ${id}`,
});

/** The whole list of participants. */
export const replaceParticipants = statement.none({
  name: 'conversations.replace-participants',
  params: { id: t.integer, participantIds: t.integer.array },
  sql: ({ id, participantIds }) => sql`
    update conversations.conversations c set participant_ids = ${participantIds}, updated_at = ${nextUpdatedAt} where c.id = ${id}`,
});
