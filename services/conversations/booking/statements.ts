/** Statements on bookings, the chains of their identifiers, and the conversations that are booked. */
import { type Parameter, type RowOf, type Sql, sql, statement, t } from '#libs/sql';
import { nextUpdatedAt } from '../statements.ts';

const bookingRow = {
  id: t.integer,
  conversation_id: t.integer.nullable,
  /** Under which attendees without an email were made people. */
  attendee_key: t.text,
  cancelled: t.boolean,
  last_event_at: t.timestamp,
};
export type BookingRow = RowOf<typeof bookingRow>;
const bookingColumns = sql`b.id, b.conversation_id, b.attendee_key, b.cancelled, b.last_event_at at time zone 'UTC' as last_event_at`;

/** Serialises the events that share an identifier until the end of the transaction; in one order, so that two never wait for each other. */
export const lockIdentifiers = statement.none({
  name: 'bookings.lock-identifiers',
  params: { identifiers: t.text.array },
  sql: ({ identifiers }) => sql`
    select pg_advisory_xact_lock(key) from (
      select hashtextextended('booking:' || identifier, 0) as key from unnest(${identifiers}) as identifier order by 1 offset 0
    ) keys`,
});

/** Bookings with one of the identifiers, one row for each, in the order of the identifiers. */
const matchedSql = (identifiers: Parameter): Sql => sql`
  select given.identifier, ${bookingColumns}
  from unnest(${identifiers}) with ordinality as given (identifier, position)
  join conversations.booking_identifiers i on i.identifier = given.identifier
  join conversations.bookings b on b.id = i.booking_id
  order by given.position`;
/** `identifier`: what the event names it by. */
const matchedRow = { identifier: t.text, ...bookingRow };

export const findBookings = statement.many({
  name: 'bookings.find',
  params: { identifiers: t.text.array },
  row: matchedRow,
  sql: ({ identifiers }) => matchedSql(identifiers),
});

/** The same for update. */
export const lockBookings = statement.many({
  name: 'bookings.lock',
  params: { identifiers: t.text.array },
  row: matchedRow,
  sql: ({ identifiers }) => sql`${matchedSql(identifiers)} for update of b`,
});

export const insertBooking = statement.one({
  name: 'bookings.insert',
  params: { attendeeKey: t.text, lastEventAt: t.instant },
  row: bookingRow,
  sql: ({ attendeeKey, lastEventAt }) => sql`
    insert into conversations.bookings as b (attendee_key, last_event_at) values (${attendeeKey}, ${lastEventAt})
    returning ${bookingColumns}`,
});

export const updateBooking = statement.none({
  name: 'bookings.update',
  params: { id: t.integer, conversationId: t.integer.nullable, lastEventAt: t.instant, cancelled: t.boolean },
  sql: ({ id, conversationId, lastEventAt, cancelled }) => sql`
    update conversations.bookings
    set conversation_id = ${conversationId}, last_event_at = greatest(last_event_at, ${lastEventAt}), cancelled = ${cancelled}
    where id = ${id}`,
});

export const addIdentifiers = statement.none({
  name: 'bookings.add-identifiers',
  params: { bookingId: t.integer, identifiers: t.text.array },
  sql: ({ bookingId, identifiers }) => sql`
    insert into conversations.booking_identifiers (identifier, booking_id)
    select given.identifier, ${bookingId} from unnest(${identifiers}) with ordinality as given (identifier, position)
    order by given.position
    on conflict (identifier) do nothing`,
});

/** Every `uid` and `rescheduleUid` seen, in order; of very many the latest. `left`, so that nobody looks through the uids of all bookings for them. */
export const listUids = statement.many({
  name: 'bookings.list-uids',
  params: { bookingId: t.integer },
  row: { uid: t.text },
  sql: ({ bookingId }) => sql`
    select uid from (
      select substr(i.identifier, 5) as uid, i.position from conversations.booking_identifiers i
      where i.booking_id = ${bookingId} and left(i.identifier, 4) = 'uid:' order by i.position desc limit 100
    ) latest order by position`,
});

/** Moves the chain of one booking to another. */
export const moveIdentifiers = statement.none({
  name: 'bookings.move-identifiers',
  params: { from: t.integer, to: t.integer },
  sql: ({ from, to }) => sql`update conversations.booking_identifiers set booking_id = ${to} where booking_id = ${from}`,
});

export const deleteBooking = statement.none({
  name: 'bookings.delete',
  params: { id: t.integer },
  sql: ({ id }) => sql`delete from conversations.bookings where id = ${id}`,
});

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

/** Receipts that wait for a booking with one of these identifiers, oldest first; of very many the latest, since they decide. */
export const findWaitingReceipts = statement.many({
  name: 'receipts.find-waiting',
  params: { identifiers: t.text.array },
  row: { id: t.integer },
  sql: ({ identifiers }) => sql`
    select id from (
      select r.id from conversations.webhook_receipts r where r.outcome = 'waiting' and r.identifiers && ${identifiers}
      order by r.id desc limit 100
    ) latest order by id`,
});
