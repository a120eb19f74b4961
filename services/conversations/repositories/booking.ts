/** Statements on webhook receipts and the chains of booking identifiers. */
import { statement } from '#libs/orm';

/** Columns of Receipt, from alias `r`. */
const receiptColumns = `r.id, r.source, r.received_at at time zone 'UTC' as received_at, r.person_id, r.trigger_event, r.outcome, r.message,
  r.conversation_id, r.deliveries, r.processed_at at time zone 'UTC' as processed_at`;

/**
 * $1 dedupe key, $2 delivery, $3 received at, $4 person, $5 headers, $6 body, $7 trigger, $8 outcome, $9 message. A repeated request finds
 * its receipt: `is_new` is false then. The same delivery, delivered again by the broker, is not counted again.
 */
export const insertReceipt = statement(
  'receipts.insert',
  `insert into conversations.webhook_receipts as r
     (dedupe_key, delivery_id, received_at, person_id, headers, body, trigger_event, outcome, message)
   values ($1, $2, $3::timestamptz, $4, $5::jsonb, $6, $7, $8, $9)
   on conflict (dedupe_key) do update
     set deliveries = r.deliveries + (r.delivery_id <> excluded.delivery_id)::integer, delivery_id = excluded.delivery_id
   returning r.id, r.outcome, (r.xmax = 0) as is_new`,
);

export const getReceipt = statement(
  'receipts.get',
  `select ${receiptColumns}, r.headers, r.body from conversations.webhook_receipts r where r.id = $1`,
);

/** $1 outcome or null, $2 limit. */
export const listReceipts = statement(
  'receipts.list',
  `select ${receiptColumns} from conversations.webhook_receipts r
   where $1::text is null or r.outcome = $1 order by r.received_at desc, r.id desc limit $2`,
);

/** $1 id, $2 outcome, $3 message, $4 conversation, $5 identifiers, $6 trigger. */
export const settleReceipt = statement(
  'receipts.settle',
  `update conversations.webhook_receipts
   set outcome = $2, message = $3, conversation_id = coalesce($4, conversation_id), identifiers = $5::text[],
       trigger_event = coalesce($6, trigger_event), processed_at = clock_timestamp()
   where id = $1`,
);

/** Receipts that wait for a booking with one of these identifiers, oldest first. */
export const findWaitingReceipts = statement(
  'receipts.find-waiting',
  `select r.id from conversations.webhook_receipts r where r.outcome = 'waiting' and r.identifiers && $1::text[] order by r.id`,
);

/** Serialises the events that share an identifier until the end of the transaction; in one order, so that two never wait for each other. */
export const lockIdentifiers = statement(
  'bookings.lock-identifiers',
  `select pg_advisory_xact_lock(key) from (
     select hashtextextended('booking:' || identifier, 0) as key from unnest($1::text[]) as identifier order by 1 offset 0
   ) keys`,
);

/** Bookings with one of the identifiers, in the order of $1. */
export const findBookings = statement(
  'bookings.find',
  `select b.id, b.conversation_id, b.attendee_key, b.cancelled, b.last_event_at at time zone 'UTC' as last_event_at
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

/** Every `uid` and `rescheduleUid` seen, in order. */
export const listUids = statement(
  'bookings.list-uids',
  `select substr(i.identifier, 5) as uid from conversations.booking_identifiers i
   where i.booking_id = $1 and i.identifier like 'uid:%' order by i.position`,
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

/** Receipts of the last day by outcome. */
export const countReceipts = statement(
  'receipts.count',
  `select source, outcome, count(*) as count from conversations.webhook_receipts
   where received_at > clock_timestamp() - interval '1 day' group by source, outcome`,
);
