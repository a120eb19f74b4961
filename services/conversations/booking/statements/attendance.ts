/** Statements on attendees, hosts and numbers of bookings, and on links between bookings (D79, D102). */
import { sql, statement, t } from '#libs/infrastructure/sql';
import type { SeatState } from '../rules/seats.ts';

export const listAttendees = statement.many({
  name: 'booking-attendees.list',
  params: { bookingId: t.integer },
  row: { attendee: t.text, person_id: t.integer.nullable, state: t.text.as<SeatState>(), at: t.timestamp },
  sql: ({ bookingId }) => sql`
    select a.attendee, a.person_id, a.state, a.at at time zone 'UTC' as at from conversations.booking_attendees a
    where a.booking_id = ${bookingId}`,
});

/**
 * Stores attendees, a JSON list of `{attendee, person_id, state, at}` with each attendee once. The caller must have
 * locked the booking.
 */
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

/** Adds the person of the webhook path as a host, and the numbers of an event. */
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

/**
 * Adds a reschedule request. `attendees` contains attendee keys, and is empty for the whole booking. The latest request
 * of an attendee wins.
 */
export const addLink = statement.none({
  name: 'booking-links.add',
  params: { uid: t.text, formerUid: t.text, attendees: t.text.array, at: t.instant },
  sql: ({ uid, formerUid, attendees, at }) => sql`
    insert into conversations.booking_links as l (uid, former_uid, attendees, requested)
    select ${uid}, ${formerUid}, ${attendees}, coalesce(jsonb_object_agg(attendee, ${at}), '{}') from unnest(${attendees}) as attendee
    on conflict (uid, former_uid) do update
      set attendees = array(select unnest(l.attendees) union select unnest(excluded.attendees)),
        requested = (select coalesce(jsonb_object_agg(key, latest), '{}') from (
          select key, max(value::timestamptz) as latest
          from (select * from jsonb_each_text(l.requested) union all select * from jsonb_each_text(excluded.requested)) both_requests group by key
        ) merged)`,
});

/**
 * Returns all uids that reschedule requests for whole bookings link with the given uids, in both directions; at most
 * 200, nearest first.
 */
export const findLinked = statement.many({
  name: 'booking-links.find-linked',
  params: { uids: t.text.array },
  row: { uid: t.text },
  sql: ({ uids }) => sql`
    with recursive linked (uid) as (
      select unnest(${uids})
      union
      select next.uid from linked cross join lateral (
        select l.former_uid as uid from conversations.booking_links l where l.uid = linked.uid and l.attendees = '{}'
        union all
        select l.uid from conversations.booking_links l where l.former_uid = linked.uid and l.attendees = '{}'
      ) next
    )
    select uid from linked limit 200`,
});

/**
 * Returns the attendees' reschedule requests for the bookings with these uids and for earlier bookings, one row per
 * attendee. Null means all attendees.
 */
export const findRequests = statement.many({
  name: 'booking-links.find-requests',
  params: { uids: t.text.array, attendees: t.text.array.nullable },
  row: { uid: t.text, former_uid: t.text, attendee: t.text, at: t.timestamp },
  sql: ({ uids, attendees }) => sql`
    with recursive asked (uid) as (
      select unnest(${uids})
      union
      select l.former_uid from asked join conversations.booking_links l on l.uid = asked.uid
      where l.attendees <> '{}' and (${attendees} is null or l.attendees && ${attendees})
    )
    select l.uid, l.former_uid, attendee, coalesce((l.requested ->> attendee)::timestamptz, l.created_at) at time zone 'UTC' as at
    from (select uid from asked limit 200) nearest join conversations.booking_links l on l.uid = nearest.uid cross join unnest(l.attendees) as attendee
    where ${attendees} is null or attendee = any(${attendees})
    order by l.created_at limit 1000`,
});
