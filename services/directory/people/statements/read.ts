/** Reads of people; JSON is made by SQL and passed on as it is. */
import { statement } from '#libs/orm';
import { personPublicSql } from '../../public-json.ts';

/** `$1` = ids; one row with the reply of `people.get-many`, in the order of the ids. */
export const getPeople = statement(
  'people.get-many',
  `select json_build_object('items', coalesce(json_agg(json_build_object('id', p.id, 'name', p.name, 'photo', p.photo_url,
     'contact', p.contact, 'description', p.description, 'actor_kind', p.actor_kind) order by wanted.place), '[]'))::text as body
   from (select id, min(place) as place from unnest($1::integer[]) with ordinality as w(id, place) group by id) as wanted
   join directory.people p on p.id = wanted.id`,
);

/** `$1` = person id; one row with the reply of `sessions.whoami`. */
export const getWhoami = statement(
  'people.whoami',
  `select json_build_object('authenticated', true, 'person', ${personPublicSql('p')})::text as body
   from directory.people p where p.id = $1::integer`,
);

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
