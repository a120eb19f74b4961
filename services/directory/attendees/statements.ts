/** People behind the attendees of a booking (D19, D19a). */
import { sql, statement, t } from '#libs/sql';
import { emailKeySql, phoneDigitsSql } from '../address-keys.ts';

/** The people that are known already, by what meant somebody who was merged too (I5), of a JSON list of `{place, email, phone_digits, origin_key}`: the oldest of several with one address. */
export const findAttendees = statement.many({
  name: 'people.find-attendees',
  params: { attendees: t.json },
  row: { place: t.integer, id: t.integer },
  sql: ({ attendees }) => sql`
    with given as (select * from jsonb_to_recordset(${attendees}) as a(place integer, email text, phone_digits text, origin_key text)), known as (
      select a.place, p.id from given a
      join directory.people p on (p.contact ->> 'email' is not null and ${emailKeySql(sql`p.contact ->> 'email'`)} = ${emailKeySql(sql`a.email`)}) or p.origin_key = a.origin_key
      union all
      select a.place, p.id from given a join directory.people p on p.contact ->> 'phone' is not null
        and ${phoneDigitsSql(sql`p.contact ->> 'phone'`)} = a.phone_digits
      union all
      select a.place, f.person_id from given a
      join directory.person_aliases f on (f.kind = 'email' and ${emailKeySql(sql`f.value`)} = ${emailKeySql(sql`a.email`)}) or (f.kind = 'origin' and f.value = a.origin_key)
    )
    select distinct on (place) place, id from known order by place, id`,
});

/** Holds back others that would create people with these emails and origin keys until the transaction ends. */
export const lockAttendees = statement.none({
  name: 'people.lock-attendees',
  params: { keys: t.text.array },
  sql: ({ keys }) => sql`
    select count(pg_advisory_xact_lock(hashtextextended('directory.attendee/' || what, 0)))
    from (select distinct what from unnest(${keys}) as w(what) order by what) as ordered`,
});

/** Creates the people of a JSON list of `{place, name, email, phone, origin_key}`. */
export const createAttendees = statement.many({
  name: 'people.create-attendees',
  params: { attendees: t.json },
  row: { place: t.integer, id: t.integer },
  sql: ({ attendees }) => sql`
    with input as (
      select *, nextval(pg_get_serial_sequence('directory.people', 'id'))::integer as id
      from jsonb_to_recordset(${attendees}) as a(place integer, name text, email text, phone text, origin_key text)
    ), created as (
      insert into directory.people (id, name, contact, origin_key)
      select id, name, jsonb_strip_nulls(jsonb_build_object('email', email, 'phone', phone)), origin_key from input
    )
    select place, id from input order by place`,
});
