/** People behind the attendees of a booking (D19, D19a). */
import { statement } from '#libs/orm';

export interface AttendeeRow {
  readonly place: number;
  readonly id: number;
}

/** `$1` = JSON list of `{place, email, origin_key}`; the people that are known already, the oldest of several with one address. */
export const findAttendees = statement(
  'people.find-attendees',
  `select distinct on (a.place) a.place, p.id
   from jsonb_to_recordset($1::jsonb) as a(place integer, email text, origin_key text)
   join directory.people p on lower(btrim(p.contact ->> 'email')) = lower(btrim(a.email)) or p.origin_key = a.origin_key
   order by a.place, p.id`,
);

/** `$1` = emails and origin keys; holds back others that would create the same people until the transaction ends. */
export const lockAttendees = statement(
  'people.lock-attendees',
  `select count(pg_advisory_xact_lock(hashtextextended('directory.attendee/' || lower(btrim(what)), 0)))
   from (select distinct what from unnest($1::text[]) as w(what) order by what) as ordered`,
);

/** `$1` = JSON list of `{place, name, email, origin_key}`; creates them and returns their ids by place. */
export const createAttendees = statement(
  'people.create-attendees',
  `with input as (
     select *, nextval(pg_get_serial_sequence('directory.people', 'id'))::integer as id
     from jsonb_to_recordset($1::jsonb) as a(place integer, name text, email text, origin_key text)
   ), created as (
     insert into directory.people (id, name, contact, origin_key)
     select id, name, case when email is null then '{}'::jsonb else jsonb_build_object('email', email) end, origin_key from input
   )
   select place, id from input order by place`,
);
