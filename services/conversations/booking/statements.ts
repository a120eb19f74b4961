/** Statements on bookings and the chains of their identifiers. */
import { statement } from '#libs/orm';
import { conversationColumns, nextUpdatedAt } from '../statements.ts';

/** Serialises the events that share an identifier until the end of the transaction; in one order, so that two never wait for each other. */
export const lockIdentifiers = statement(
  'bookings.lock-identifiers',
  `select pg_advisory_xact_lock(key) from (
     select hashtextextended('booking:' || identifier, 0) as key from unnest($1::text[]) as identifier order by 1 offset 0
   ) keys`,
);

/** Bookings with one of the identifiers, one row for each, in the order of $1. */
export const findBookings = statement(
  'bookings.find',
  `select given.identifier, b.id, b.conversation_id, b.attendee_key, b.cancelled, b.last_event_at at time zone 'UTC' as last_event_at
   from unnest($1::text[]) with ordinality as given (identifier, position)
   join conversations.booking_identifiers i on i.identifier = given.identifier
   join conversations.bookings b on b.id = i.booking_id
   order by given.position`,
);

/** As findBookings, for update. */
export const lockBookings = statement('bookings.lock', `${findBookings.text} for update of b`);

/** $1 attendee key, $2 last event at. */
export const insertBooking = statement(
  'bookings.insert',
  `insert into conversations.bookings (attendee_key, last_event_at) values ($1, $2::timestamptz)
   returning id, conversation_id, attendee_key, cancelled, last_event_at at time zone 'UTC' as last_event_at`,
);

/** $1 booking, $2 conversation, $3 last event at, $4 cancelled. */
export const updateBooking = statement(
  'bookings.update',
  `update conversations.bookings
   set conversation_id = $2, last_event_at = greatest(last_event_at, $3::timestamptz), cancelled = $4
   where id = $1`,
);

/** $1 booking, $2 identifiers. */
export const addIdentifiers = statement(
  'bookings.add-identifiers',
  `insert into conversations.booking_identifiers (identifier, booking_id)
   select given.identifier, $1 from unnest($2::text[]) with ordinality as given (identifier, position) order by given.position
   on conflict (identifier) do nothing`,
);

/** Every `uid` and `rescheduleUid` seen, in order; of very many the latest. */
export const listUids = statement(
  'bookings.list-uids',
  `select uid from (
     select substr(i.identifier, 5) as uid, i.position from conversations.booking_identifiers i
     where i.booking_id = $1 and i.identifier like 'uid:%' order by i.position desc limit 100
   ) latest order by position`,
);

/** Moves the chain of $2 to $1. */
export const moveIdentifiers = statement(
  'bookings.move-identifiers',
  `update conversations.booking_identifiers set booking_id = $1 where booking_id = $2`,
);

export const deleteBooking = statement('bookings.delete', `delete from conversations.bookings where id = $1`);

/**
 * Joins conversation $2 into $1, both of one booking: stores and room of $1 win, participants are joined, notes move. $3 = bounds and
 * `config.booking` are those of $2.
 */
export const joinConversations = statement(
  'bookings.join-conversations',
  `with moved as (update conversations.notes set conversation_id = $1 where conversation_id = $2)
   update conversations.conversations c
   set infos = o.infos || c.infos,
       config = o.config || c.config || case when $3::boolean then jsonb_build_object('booking', o.config -> 'booking') else '{}' end,
       room = coalesce(c.room, o.room),
       start_at = case when $3::boolean then o.start_at else c.start_at end,
       finish_at = case when $3::boolean then o.finish_at else c.finish_at end,
       participant_ids = c.participant_ids || array(
         select p.id from unnest(o.participant_ids) with ordinality as p (id, position)
         where p.id <> all (c.participant_ids) order by p.position),
       updated_at = greatest(clock_timestamp(), c.updated_at + interval '1 microsecond')
   from conversations.conversations o
   where c.id = $1 and o.id = $2`,
);

/** Bounds, participants ($5, the whole list), journey ($6) and `config.booking` ($4) of a booked conversation. */
export const updateBooked = statement(
  'conversations.update-booked',
  `update conversations.conversations c
   set start_at = $2::timestamptz, finish_at = $3::timestamptz,
       config = c.config || jsonb_build_object('booking', $4::jsonb), participant_ids = $5::integer[], updated_at = ${nextUpdatedAt}
   where c.id = $1
   returning ${conversationColumns}`,
);

/** $1 id, $2 the whole list of participants. */
export const replaceParticipants = statement(
  'conversations.replace-participants',
  `update conversations.conversations c set participant_ids = $2::integer[], updated_at = ${nextUpdatedAt} where c.id = $1 returning c.id`,
);

/** Receipts that wait for a booking with one of these identifiers, oldest first; of very many the latest, since they decide. */
export const findWaitingReceipts = statement(
  'receipts.find-waiting',
  `select id from (
     select r.id from conversations.webhook_receipts r where r.outcome = 'waiting' and r.identifiers && $1::text[] order by r.id desc limit 100
   ) latest order by id`,
);

export interface BookingRow {
  readonly id: number;
  readonly conversation_id: number | null;
  /** Under which attendees without an email were made people. */
  readonly attendee_key: string;
  readonly cancelled: boolean;
  readonly last_event_at: string;
}

export interface MatchedBooking extends BookingRow {
  /** What the event names it by. */
  readonly identifier: string;
}
