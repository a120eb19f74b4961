/** Statements on attendees, hosts and numbers of bookings, and on links between bookings (D79, D102). */
import { sql, statement, t } from '#libs/sql';
import type { SeatState } from '../rules/seats.ts';

export const listAttendees = statement.many({
  name: 'booking-attendees.list',
  params: { bookingId: t.integer },
  row: { attendee: t.text, person_id: t.integer.nullable, state: t.text.as<SeatState>(), at: t.timestamp },
  sql: ({ bookingId }) => sql`
    select a.attendee, a.person_id, a.state, a.at at time zone 'UTC' as at from conversations.booking_attendees a
    where a.booking_id = ${bookingId}`,
});

/** `attendees`: a JSON list of `{attendee, person_id, state, at}`, each once. For callers that hold the booking's lock. */
export const saveAttendees = statement.none({
  name: 'booking-attendees.save',
  params: { bookingId: t.integer, attendees: t.json },
  sql: ({ bookingId, attendees }) => sql`
    insert into conversations.booking_attendees (booking_id, attendee, person_id, state, at)
    select ${bookingId}, attendee, person_id, state, at
    from jsonb_to_recordset(${attendees}) as given (attendee text, person_id integer, state text, at timestamptz)
    on conflict (booking_id, attendee) do update set person_id = excluded.person_id, state = excluded.state, at = excluded.at`,
});

export const listHosts = statement.many({
  name: 'booking-hosts.list',
  params: { bookingId: t.integer },
  row: { person_id: t.integer },
  sql: ({ bookingId }) => sql`select h.person_id from conversations.booking_hosts h where h.booking_id = ${bookingId}`,
});

/** The person on whose hook an event came, and the numbers that it names. */
export const addReferences = statement.none({
  name: 'bookings.add-references',
  params: { bookingId: t.integer, hostId: t.integer, numbers: t.text.array },
  sql: ({ bookingId, hostId, numbers }) => sql`
    with hosts as (
      insert into conversations.booking_hosts (booking_id, person_id) values (${bookingId}, ${hostId}) on conflict do nothing
    )
    insert into conversations.booking_references (identifier, booking_id)
    select number, ${bookingId} from unnest(${numbers}) as number on conflict do nothing`,
});

export const addLink = statement.none({
  name: 'booking-links.add',
  params: { uid: t.text, formerUid: t.text, attendees: t.text.array },
  sql: ({ uid, formerUid, attendees }) => sql`
    insert into conversations.booking_links as l (uid, former_uid, attendees) values (${uid}, ${formerUid}, ${attendees})
    on conflict (uid, former_uid) do update
      set attendees = array(select unnest(l.attendees) union select unnest(excluded.attendees))`,
});

/** Links to and from bookings with one of the uids. */
export const findLinks = statement.many({
  name: 'booking-links.find',
  params: { uids: t.text.array },
  row: { uid: t.text, former_uid: t.text, attendees: t.json },
  sql: ({ uids }) => sql`
    select l.uid, l.former_uid, to_jsonb(l.attendees) as attendees from conversations.booking_links l
    where l.uid = any(${uids}) or l.former_uid = any(${uids}) order by l.created_at limit 100`,
});
