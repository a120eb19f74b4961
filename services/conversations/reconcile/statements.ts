/** Statements on stored bookings by uid, and on the last reconciliation (B1, B2). */
import { sql, statement, t } from '#libs/infrastructure/sql';

/** Returns stored bookings by uid; `attendees` is JSON, `{key: {present}}`. */
export const findKnown = statement.many({
  name: 'reconcile.find-known',
  params: { identifiers: t.text.array },
  row: {
    uid: t.text,
    bookingId: t.integer,
    cancelled: t.boolean,
    hasSeats: t.boolean,
    wasErasedFrom: t.boolean,
    conversationId: t.integer.nullable,
    start: t.text.nullable,
    finish: t.text.nullable,
    lastEventAt: t.text,
    personId: t.integer.nullable,
    attendees: t.json,
  },
  sql: ({ identifiers }) => sql`
    select substr(i.identifier, 5) as uid, b.id as "bookingId", b.cancelled, b.has_seats as "hasSeats", b.was_erased_from as "wasErasedFrom",
      conversations.iso_utc(c.start_at) as start, conversations.iso_utc(c.finish_at) as finish,
      conversations.iso_utc(b.last_event_at) as "lastEventAt", c.id as "conversationId", c.participant_ids[1] as "personId", coalesce((
        select jsonb_object_agg(a.attendee, jsonb_build_object('present', a.state = 'in' and (b.seats_since is null or a.at > b.seats_since)))
        from conversations.booking_attendees a where a.booking_id = b.id), '{}') as attendees
    from conversations.booking_identifiers i join conversations.bookings b on b.id = i.booking_id
    left join conversations.conversations c on c.id = b.conversation_id
    where i.identifier = any(${identifiers})`,
});

/** Returns conversations of the host's other bookings with the same iCalUID that start at `from` or later. */
export const findOccurrences = statement.many({
  name: 'reconcile.find-occurrences',
  params: { bookingId: t.integer, hostId: t.integer, from: t.instant.nullable, limit: t.integer },
  row: { id: t.integer, uid: t.text, title: t.text.nullable, start: t.text.nullable },
  sql: ({ bookingId, hostId, from, limit }) => sql`
    select c.id, c.config #>> '{booking,uid}' as uid, c.config #>> '{booking,title}' as title, conversations.iso_utc(c.start_at) as start
    from conversations.conversations c
    where c.config #>> '{booking,uid}' is not null and (${from} is null or c.start_at >= ${from}) and c.id in (
      select b.conversation_id from conversations.booking_references own
      join conversations.booking_references r on r.identifier = own.identifier and r.booking_id <> own.booking_id
      join conversations.bookings b on b.id = r.booking_id
      join conversations.booking_hosts h on h.booking_id = b.id and h.person_id = ${hostId}
      where own.booking_id = ${bookingId} and left(own.identifier, 5) = 'ical:')
    order by c.start_at, c.id limit ${limit}`,
});

/** Returns `due`, whether no run was started in the last day, and `last`, the start of the last successful run. */
export const findDaily = statement.one({
  name: 'reconcile.find-daily',
  params: { type: t.text },
  row: { due: t.boolean, last: t.text.nullable },
  sql: ({ type }) => sql`select
      coalesce(max(created_at) <= clock_timestamp() - interval '1 day', true) as due,
      conversations.iso_utc(max(started_at) filter (where state = 'succeeded')) as last
    from conversations.jobs where type = ${type} and payload -> 'daily' = 'true'::jsonb`,
});
