/** Statements that read and create people (rules/people#people; D19, D43, D44). PostgreSQL builds the JSON. */
import { type Sql, sql, statement, t } from '#libs/infrastructure/sql';
import { personListItemSql, personPublicSql } from '../api-objects/index.ts';
import {
  afterParams,
  bodyRow,
  containsSql,
  gramsOf,
  listSql,
  nameInAnySql,
  pageParams,
  recordOrders,
  type RecordSort,
} from '../lists/index.ts';
import {
  emailKeySql,
  idsByEmailSql,
  linkedinAddressSql,
  phoneDigitsSql,
  startsOfAddressesSql,
} from '../person-rows/index.ts';

/** Returns the reply of `people.get-many`, in the order of the ids. */
export const getPeople = statement.one({
  name: 'people.get-many',
  params: { ids: t.integer.array },
  row: bodyRow,
  sql: ({ ids }) => sql`
    select json_build_object('items', coalesce(json_agg(json_build_object('id', p.id, 'name', p.name, 'photo', p.photo_url,
      'contact', p.contact, 'description', p.description, 'actor_kind', p.actor_kind) order by wanted.place), '[]'))::text as body
    from (select id, min(place) as place from unnest(${ids}) with ordinality as w(id, place) group by id) as wanted
    join directory.people p on p.id = wanted.id`,
});

/** Returns the reply of `people.find-by-keys`. */
export const findPeopleByKeys = statement.one({
  name: 'people.find-by-keys',
  params: { keys: t.text.array },
  row: bodyRow,
  sql: ({ keys }) => sql`
    select json_build_object('items', coalesce(json_agg(json_build_object('key', key, 'id', id)), '[]'))::text as body
    from (select key, id from directory.people where key = any(${keys})
      union all select value, person_id from directory.person_aliases where kind = 'key' and value = any(${keys})) as named`,
});

/**
 * Returns the list statement of one sort order. @param materializeMatches finds all matches first; otherwise the page
 * is read in its order
 */
const list = (sort: RecordSort, materializeMatches: boolean) =>
  statement.one({
    name: `v1.people.list-${sort}${materializeMatches ? '.found' : ''}`,
    planned: 'each-call',
    params: { text: t.text, ...afterParams, ...pageParams },
    row: bodyRow,
    sql: ({ text, createdAfter, updatedAfter, limit, offset }) => {
      const addresses = startsOfAddressesSql('p', text);
      const inName = containsSql(sql`p.search_name`, text, gramsOf('p'), sql`true`);
      const arms = (columns: Sql, conditions: readonly Sql[]): Sql =>
        sql.join(
          conditions.map((condition) => sql`select ${columns} from directory.people p where ${condition}`),
          sql` union `,
        );
      return listSql({
        materializeMatches,
        from: materializeMatches
          ? sql`(${arms(sql`p.id, p.search_name, p.created_at, p.updated_at`, [nameInAnySql('p', text), ...addresses])}) as p`
          : sql`directory.people p`,
        where: sql`${materializeMatches ? sql`true` : sql`(${inName} or p.id in (${arms(sql`p.id`, addresses)}))`}
      and (${createdAfter} is null or p.created_at > ${createdAfter}) and (${updatedAfter} is null or p.updated_at > ${updatedAfter})`,
        key: sql`p.id`,
        order: recordOrders[sort]('p'),
        itemFrom: sql`directory.people p on p.id = page.key`,
        item: personListItemSql('p'),
        limit,
        offset,
        extra: { query: text },
        fields: ['limit', 'offset', 'count', 'has_more', 'items'],
      });
    },
  });

const lists = (materializeMatches: boolean) => ({
  name: list('name', materializeMatches),
  latest: list('latest', materializeMatches),
  updated: list('updated', materializeMatches),
});

/** Lists people with a rare text in the name (words in any order) or at the start of the email or phone number. */
export const findPeople = lists(true);
/** Lists people like `findPeople`, for an empty or frequent short text. */
export const listPeople = lists(false);

/**
 * Locks the addresses against concurrent creation until the transaction ends (same lock keys as
 * `people.lock-attendees`).
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

/** Returns the ids of people with these addresses, in ascending order, except one. */
export const findByAddress = statement.one({
  name: 'people.find-by-address',
  params: { email: t.text.nullable, linkedin: t.text.nullable, exceptId: t.integer.nullable },
  row: { by_email: t.integer.array, by_linkedin: t.integer.array },
  sql: ({ email, linkedin, exceptId }) => sql`
    select array(select id from (${idsByEmailSql(email)}) as found where id is distinct from ${exceptId} order by id) as by_email,
      array(select id from directory.people where contact ->> 'linkedin' is not null
        and ${linkedinAddressSql(sql`contact ->> 'linkedin'`)} = ${linkedinAddressSql(linkedin)} and id is distinct from ${exceptId} order by id) as by_linkedin`,
});

/** Locks a person for an update, and returns the contact values (JSON). */
export const lockPersonForUpdate = statement.maybeOne({
  name: 'people.lock-for-update',
  params: { id: t.integer },
  row: { contact: t.text },
  sql: ({ id }) => sql`select contact::text from directory.people where id = ${id} for no key update`,
});

/** Writes changed values of a person. Without a difference it changes nothing and returns nothing. */
export const savePerson = statement.maybeOne({
  name: 'people.save',
  params: {
    id: t.integer,
    name: t.text.nullable,
    description: t.text.nullable,
    setPhoto: t.boolean,
    photoUrl: t.text.nullable,
    contact: t.json,
    removed: t.text.array,
  },
  row: { id: t.integer },
  sql: ({ id, name, description, setPhoto, photoUrl, contact, removed }) => sql`
    update directory.people p
    set name = n.name, description = n.description, photo_url = n.photo_url, contact = n.contact,
      updated_at = greatest(clock_timestamp(), p.updated_at + interval '1 microsecond')
    from (select id, coalesce(${name}, name) as name, coalesce(${description}, description) as description,
        case when ${setPhoto} then ${photoUrl} else photo_url end as photo_url, (contact - ${removed}::text[]) || ${contact}::jsonb as contact
      from directory.people where id = ${id}) as n
    where p.id = n.id and (p.name, p.description, p.photo_url, p.contact) is distinct from (n.name, n.description, n.photo_url, n.contact)
    returning p.id`,
});

/** Inserts a person and returns the id and PersonPublic (JSON). */
export const insertPerson = statement.one({
  name: 'people.insert',
  params: {
    key: t.text,
    name: t.text,
    description: t.text,
    photoUrl: t.text.nullable,
    actorKind: t.text,
    contact: t.json,
  },
  row: { id: t.integer, person: t.text },
  sql: ({ key, name, description, photoUrl, actorKind, contact }) => sql`
    insert into directory.people as p (key, name, description, photo_url, actor_kind, contact)
    values (${key}, ${name}, ${description}, ${photoUrl}, ${actorKind}, ${contact}) returning p.id, ${personPublicSql('p')}::text as person`,
});

/**
 * Finds existing people for a JSON list of `{position, email, phone_digits, origin_key}`, also by aliases of merged
 * people (I5). Of several people it returns the oldest.
 */
export const findAttendees = statement.many({
  name: 'people.find-attendees',
  params: { attendees: t.json },
  row: { position: t.integer, id: t.integer },
  sql: ({ attendees }) => sql`
    with given as (select * from jsonb_to_recordset(${attendees}) as a(position integer, email text, phone_digits text, origin_key text)), known as (
      select a.position, p.id from given a
      join directory.people p on (p.contact ->> 'email' is not null and ${emailKeySql(sql`p.contact ->> 'email'`)} = ${emailKeySql(sql`a.email`)}) or p.origin_key = a.origin_key
      union all
      select a.position, p.id from given a join directory.people p on p.contact ->> 'phone' is not null
        and ${phoneDigitsSql(sql`p.contact ->> 'phone'`)} = a.phone_digits
      union all
      select a.position, f.person_id from given a
      join directory.person_aliases f on (f.kind = 'email' and ${emailKeySql(sql`f.value`)} = ${emailKeySql(sql`a.email`)}) or (f.kind = 'origin' and f.value = a.origin_key)
    )
    select distinct on (position) position, id from known order by position, id`,
});

/** Locks these emails, phones and origin keys against concurrent creation until the transaction ends. */
export const lockAttendees = statement.none({
  name: 'people.lock-attendees',
  params: { keys: t.text.array },
  sql: ({ keys }) => sql`
    select count(pg_advisory_xact_lock(hashtextextended('directory.attendee/' || what, 0)))
    from (select distinct what from unnest(${keys}) as w(what) order by what) as ordered`,
});

/** Creates the people of a JSON list of `{position, name, email, phone, origin_key}`. */
export const createAttendees = statement.many({
  name: 'people.create-attendees',
  params: { attendees: t.json },
  row: { position: t.integer, id: t.integer },
  sql: ({ attendees }) => sql`
    with input as (
      select *, nextval(pg_get_serial_sequence('directory.people', 'id'))::integer as id
      from jsonb_to_recordset(${attendees}) as a(position integer, name text, email text, phone text, origin_key text)
    ), created as (
      insert into directory.people (id, name, contact, origin_key)
      select id, name, jsonb_strip_nulls(jsonb_build_object('email', email, 'phone', phone)), origin_key from input
    )
    select position, id from input order by position`,
});
