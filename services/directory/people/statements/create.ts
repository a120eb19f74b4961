/** Creation of people through the open API (D43, D44). */
import { sql, statement, t } from '#libs/sql';
import { emailKeySql, idsByEmailSql, linkedinAddressSql } from '../../address-keys.ts';
import { personPublicSql } from '../../public-json.ts';

/**
 * Holds back everybody else who would create a person with one of the addresses until the transaction ends, bookings included
 * (`people.lock-attendees` has the same locks for emails).
 */
export const lockAddresses = statement.none({
  name: 'people.lock-addresses',
  params: { email: t.text.nullable, linkedin: t.text.nullable },
  sql: ({ email, linkedin }) => sql`
    select count(pg_advisory_xact_lock(hashtextextended('directory.attendee/' || key, 0)))
    from (select distinct key
          from (values (${emailKeySql(email)}), ('linkedin/' || ${linkedinAddressSql(linkedin)})) as given(key)
          where key is not null order by key) as ordered`,
});

/** Ids of those who have them, ascending. */
export const findByAddress = statement.one({
  name: 'people.find-by-address',
  params: { email: t.text.nullable, linkedin: t.text.nullable },
  row: { by_email: t.integer.array, by_linkedin: t.integer.array },
  sql: ({ email, linkedin }) => sql`
    select array(select id from (${idsByEmailSql(email)}) as found order by id) as by_email,
      array(select id from directory.people where contact ->> 'linkedin' is not null
        and ${linkedinAddressSql(sql`contact ->> 'linkedin'`)} = ${linkedinAddressSql(linkedin)} order by id) as by_linkedin`,
});

/** The id, and PersonPublic as JSON. */
export const insertPerson = statement.one({
  name: 'people.insert',
  params: { name: t.text, description: t.text, photoUrl: t.text.nullable, actorKind: t.text, contact: t.json },
  row: { id: t.integer, person: t.text },
  sql: ({ name, description, photoUrl, actorKind, contact }) => sql`
    insert into directory.people as p (name, description, photo_url, actor_kind, contact)
    values (${name}, ${description}, ${photoUrl}, ${actorKind}, ${contact}) returning p.id, ${personPublicSql('p')}::text as person`,
});
