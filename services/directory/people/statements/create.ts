/** Creation of people through the open API (D43, D44). */
import { statement } from '#libs/orm';
import { personPublicSql } from '../../public-json.ts';

/**
 * `$1` = email or null, `$2` = LinkedIn address or null; holds back everybody else who would create a person with one of them until the
 * transaction ends, bookings included (`people.lock-attendees` has the same locks for emails).
 */
export const lockAddresses = statement(
  'people.lock-addresses',
  `select count(pg_advisory_xact_lock(hashtextextended('directory.attendee/' || key, 0)))
   from (select distinct key
         from (values (lower(btrim($1::text))), ('linkedin/' || directory.linkedin_key($2::text))) as given(key)
         where key is not null order by key) as ordered`,
);

/** `$1`, `$2` as above; one row with the ids of those who have them, ascending. */
export const findByAddress = statement(
  'people.find-by-address',
  `select array(select id from directory.people where lower(btrim(contact ->> 'email')) = lower(btrim($1::text)) order by id) as by_email,
     array(select id from directory.people where directory.linkedin_key(contact ->> 'linkedin') = directory.linkedin_key($2::text) order by id)
       as by_linkedin`,
);

/** `$1` = name, `$2` = description, `$3` = photo or null, `$4` = kind of actor, `$5` = contact as JSON; the id and PersonPublic as text. */
export const insertPerson = statement(
  'people.insert',
  `insert into directory.people as p (name, description, photo_url, actor_kind, contact)
   values ($1::text, $2::text, $3::text, $4::text, $5::jsonb) returning p.id, ${personPublicSql('p')}::text as person`,
);
