/** Statements on bookings, their identifiers, booked conversations, and waiting receipts. */
import { type Parameter, type RowOf, type Sql, sql, statement, t } from '#libs/infrastructure/sql';
import { nextUpdatedAt } from '../../statements.ts';

const bookingRow = {
  id: t.integer,
  conversation_id: t.integer.nullable,
  /** Key that identifies people created from attendees without an email. */
  attendee_key: t.text,
  cancelled: t.boolean,
  /** Time of the event that determined times and title. */
  last_event_at: t.timestamp,
  has_seats: t.boolean,
  seats_since: t.timestamp.nullable,
  former_conversation_id: t.integer.nullable,
};
export type BookingRow = RowOf<typeof bookingRow>;
const bookingColumns = sql`b.id, b.conversation_id, b.attendee_key, b.cancelled, b.last_event_at at time zone 'UTC' as last_event_at,
  b.has_seats, b.seats_since at time zone 'UTC' as seats_since, b.former_conversation_id`;

/**
 * Locks the identifiers until the end of the transaction, so that events with a common identifier are processed one
 * after the other. The fixed order prevents deadlocks.
 */
export const lockIdentifiers = statement.none({
  name: 'bookings.lock-identifiers',
  params: { identifiers: t.text.array },
  sql: ({ identifiers }) => sql`
    select pg_advisory_xact_lock(key) from (
      select hashtextextended('booking:' || identifier, 0) as key from unnest(${identifiers}) as identifier order by 1 offset 0
    ) keys`,
});

/** `identifier` is the uid or number that matched. */
const matchedRow = { identifier: t.text, ...bookingRow };
export type MatchedRow = RowOf<typeof matchedRow>;

/** Selects bookings with one of the uids; one row per match. */
const matchedSql = (identifiers: Parameter): Sql => sql`
  select i.identifier, ${bookingColumns}
  from conversations.booking_identifiers i join conversations.bookings b on b.id = i.booking_id
  where i.identifier = any(${identifiers}) order by b.id`;

export const findBookings = statement.many({
  name: 'bookings.find',
  params: { identifiers: t.text.array },
  row: matchedRow,
  sql: ({ identifiers }) => matchedSql(identifiers),
});

/** Returns the bookings with one of the uids, and locks them for update. */
export const lockBookings = statement.many({
  name: 'bookings.lock',
  params: { identifiers: t.text.array },
  row: matchedRow,
  sql: ({ identifiers }) => sql`${matchedSql(identifiers)} for update of b`,
});

const numberParams = { numbers: t.text.array, hostId: t.integer };

/** Selects bookings that have one of the numbers and received an event on the host's webhook path (D79). */
const numberedSql = ({ numbers, hostId }: Readonly<Record<keyof typeof numberParams, Parameter>>): Sql => sql`
  select r.identifier, ${bookingColumns}
  from conversations.booking_references r join conversations.bookings b on b.id = r.booking_id
  join conversations.booking_hosts h on h.booking_id = b.id and h.person_id = ${hostId}
  where r.identifier = any(${numbers}) order by b.id limit 100`;

export const findNumbered = statement.many({
  name: 'bookings.find-numbered',
  params: numberParams,
  row: matchedRow,
  sql: numberedSql,
});

/** Returns the bookings with one of the numbers, and locks them for update. */
export const lockNumbered = statement.many({
  name: 'bookings.lock-numbered',
  params: numberParams,
  row: matchedRow,
  sql: (params) => sql`${numberedSql(params)} for update of b`,
});

export const insertBooking = statement.one({
  name: 'bookings.insert',
  params: { attendeeKey: t.text, lastEventAt: t.instant },
  row: bookingRow,
  sql: ({ attendeeKey, lastEventAt }) => sql`
    insert into conversations.bookings as b (attendee_key, last_event_at) values (${attendeeKey}, ${lastEventAt})
    returning ${bookingColumns}`,
});

/** Updates a booking, and clears its pending reschedule request. */
export const updateBooking = statement.none({
  name: 'bookings.update',
  params: { id: t.integer, conversationId: t.integer.nullable, lastEventAt: t.instant, cancelled: t.boolean },
  sql: ({ id, conversationId, lastEventAt, cancelled }) => sql`
    update conversations.bookings
    set conversation_id = ${conversationId}, last_event_at = greatest(last_event_at, ${lastEventAt}), cancelled = ${cancelled},
      requested_at = null
    where id = ${id}`,
});

export const markSeats = statement.none({
  name: 'bookings.mark-seats',
  params: { id: t.integer, since: t.instant.nullable },
  sql: ({ id, since }) => sql`
    update conversations.bookings set has_seats = true, seats_since = greatest(seats_since, ${since}) where id = ${id}`,
});

/** Stores the deleted conversation of a booking without guests, or null after the conversation was restored. */
export const setFormerConversation = statement.none({
  name: 'bookings.keep-former',
  params: { id: t.integer, formerId: t.integer.nullable },
  sql: ({ id, formerId }) => sql`
    update conversations.bookings set former_conversation_id = ${formerId}, cancelled = ${formerId}::integer is not null where id = ${id}`,
});

/**
 * Moves the conversation to another booking. The former booking's event time is reset, so that the next event of a late
 * guest sets its times.
 */
export const moveConversation = statement.none({
  name: 'bookings.move-conversation',
  params: { from: t.integer, to: t.integer },
  sql: ({ from, to }) => sql`
    update conversations.bookings b
    set conversation_id = case when b.id = ${to} then f.conversation_id end, cancelled = b.id <> ${to},
      last_event_at = case when b.id = ${to} then b.last_event_at else 'epoch' end
    from conversations.bookings f where f.id = ${from} and b.id in (${from}, ${to})`,
});

export const markAwaitingTime = statement.none({
  name: 'bookings.await-time',
  params: { id: t.integer, lastEventAt: t.instant, requestedAt: t.instant },
  sql: ({ id, lastEventAt, requestedAt }) => sql`
    update conversations.bookings set last_event_at = greatest(last_event_at, ${lastEventAt}), requested_at = ${requestedAt} where id = ${id}`,
});

/** Locks and returns bookings whose reschedule request is older than `requestedBefore`. */
export const lockUnanswered = statement.many({
  name: 'bookings.lock-unanswered',
  params: { requestedBefore: t.instant, limit: t.integer },
  row: bookingRow,
  sql: ({ requestedBefore, limit }) => sql`
    select ${bookingColumns} from conversations.bookings b where b.requested_at < ${requestedBefore}
    order by b.requested_at limit ${limit} for update skip locked`,
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

/** Returns the latest 100 uids in order. `left(…)` prevents a scan of the uids of all bookings. */
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

/**
 * Moves all data from one booking to another, so that the former can be deleted. For attendees of both bookings the
 * later event wins.
 */
export const moveBooking = statement.none({
  name: 'bookings.move',
  params: { from: t.integer, to: t.integer },
  sql: ({ from, to }) => sql`
    with uids as (
      update conversations.booking_identifiers set booking_id = ${to} where booking_id = ${from}
    ), numbers as (
      insert into conversations.booking_references (identifier, booking_id)
      select identifier, ${to} from conversations.booking_references where booking_id = ${from} on conflict do nothing
    ), hosts as (
      insert into conversations.booking_hosts (booking_id, person_id)
      select ${to}, person_id from conversations.booking_hosts where booking_id = ${from} on conflict do nothing
    ), attendees as (
      insert into conversations.booking_attendees as a (booking_id, attendee, person_id, state, at)
      select ${to}, attendee, person_id, state, at from conversations.booking_attendees where booking_id = ${from}
      on conflict (booking_id, attendee) do update set person_id = excluded.person_id, state = excluded.state, at = excluded.at
      where excluded.at > a.at
    )
    update conversations.bookings b
    set has_seats = b.has_seats or f.has_seats, seats_since = greatest(b.seats_since, f.seats_since),
      was_erased_from = b.was_erased_from or f.was_erased_from
    from conversations.bookings f where b.id = ${to} and f.id = ${from}`,
});

export const deleteBooking = statement.none({
  name: 'bookings.delete',
  params: { id: t.integer },
  sql: ({ id }) => sql`delete from conversations.bookings where id = ${id}`,
});

/**
 * Returns the latest 100 waiting receipts with one of the uids, oldest first. Receipts without a uid match by number.
 */
export const findWaitingReceipts = statement.many({
  name: 'receipts.find-waiting',
  params: { uids: t.text.array, numbers: t.text.array },
  row: { id: t.integer },
  sql: ({ uids, numbers }) => sql`
    select id from (
      select r.id from conversations.webhook_receipts r
      where r.outcome = 'waiting' and r.identifiers && (${uids} || ${numbers})
        and (r.identifiers && ${uids} or not exists (select from unnest(r.identifiers) as own where left(own, 4) = 'uid:'))
      order by r.id desc limit 100
    ) latest order by id`,
});

/** Returns an earlier unprocessed receipt with one of the identifiers. `wait_ms` is the time until its job is due. */
export const findEarlierReceipt = statement.maybeOne({
  name: 'receipts.find-earlier',
  params: { receiptId: t.integer, identifiers: t.text.array, jobType: t.text },
  row: { id: t.integer, is_running: t.boolean, wait_ms: t.integer },
  sql: ({ receiptId, identifiers, jobType }) => sql`
    select r.id, j.state = 'running' as is_running, (1000 * greatest(0, extract(epoch from j.run_at - clock_timestamp())))::integer as wait_ms
    from conversations.webhook_receipts own
    join conversations.webhook_receipts r on r.outcome = 'pending' and r.identifiers && ${identifiers}
      and (r.received_at, r.id) < (own.received_at, own.id)
    join conversations.jobs j on j.type = ${jobType} and j.state in ('queued', 'running') and (j.payload ->> 'receipt_id')::integer = r.id
    where own.id = ${receiptId} order by j.state desc limit 1`,
});

/**
 * Merges the source conversation into the target conversation of the same booking. Stores and room of the target win,
 * participants are combined, notes move. With `sourceIsLater`, bounds and `config.booking` are those of the source.
 */
export const joinConversations = statement.none({
  name: 'bookings.join-conversations',
  params: { target: t.integer, source: t.integer, sourceIsLater: t.boolean },
  sql: ({ target, source, sourceIsLater }) => sql`
    with moved as (update conversations.notes set conversation_id = ${target} where conversation_id = ${source})
    update conversations.conversations c
    set infos = o.infos || c.infos,
        config = o.config || c.config || case when ${sourceIsLater} then jsonb_build_object('booking', o.config -> 'booking') else '{}' end,
        room = coalesce(c.room, o.room),
        start_at = case when ${sourceIsLater} then o.start_at else c.start_at end,
        finish_at = case when ${sourceIsLater} then o.finish_at else c.finish_at end,
        participant_ids = c.participant_ids || array(
          select p.id from unnest(o.participant_ids) with ordinality as p (id, position)
          where p.id <> all (c.participant_ids) order by p.position),
        updated_at = ${nextUpdatedAt}
    from conversations.conversations o
    where c.id = ${target} and o.id = ${source}`,
});

/** Replaces bounds, `config.booking` and participants of a conversation. */
export const updateBooked = statement.none({
  name: 'conversations.update-booked',
  params: {
    id: t.integer,
    start: t.instant.nullable,
    finish: t.instant.nullable,
    booking: t.json,
    participantIds: t.integer.array,
  },
  sql: ({ id, start, finish, booking, participantIds }) => sql`
    update conversations.conversations c
    set start_at = ${start}, finish_at = ${finish}, config = c.config || jsonb_build_object('booking', ${booking}),
        participant_ids = ${participantIds}, updated_at = ${nextUpdatedAt}
    where c.id = ${id}`,
});

/** Replaces the participants of a conversation. */
export const replaceParticipants = statement.none({
  name: 'conversations.replace-participants',
  params: { id: t.integer, participantIds: t.integer.array },
  sql: ({ id, participantIds }) => sql`
    update conversations.conversations c set participant_ids = ${participantIds}, updated_at = ${nextUpdatedAt} where c.id = ${id}`,
});
