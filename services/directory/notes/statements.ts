/**
 * Statements on notes and the note feeds of people and holons (rules/memberships#notes; D47a, D48). PostgreSQL builds
 * the JSON.
 */
import { type Sql, sql, type SqlPart, statement, t } from '#libs/infrastructure/sql';
import { noteItemSql } from '../api-objects/index.ts';
import { bodyRow, listSql, pageParams } from '../lists/index.ts';
import {
  canEditHolonSql,
  holonVisibleSql,
  noteReadableSql,
  viewerParams,
  type ViewerSql,
} from '../visibility/index.ts';

type Owner = 'person' | 'holon';

/**
 * Adds a note and its feed entries only once per key; returns no row if the key exists. Skips unknown people and holons
 * and resolves merged people (I5). An unknown author becomes null; `createdAt` defaults to now.
 */
export const addNote = statement.maybeOne({
  name: 'notes.add',
  params: {
    key: t.text,
    body: t.text,
    noteType: t.text,
    authorPersonId: t.integer.nullable,
    createdAt: t.instant.nullable,
    personIds: t.integer.array,
    holonIds: t.integer.array,
  },
  row: { id: t.integer, person_ids: t.integer.array, holon_ids: t.integer.array },
  sql: ({ key, body, noteType, authorPersonId, createdAt, personIds, holonIds }) => sql`
    with note as (
      insert into directory.notes (dedupe_key, body, note_type, author_person_id, created_at)
      values (${key}, ${body}, ${noteType}, (select p.id from directory.people p where p.id = coalesce(
          (select into_id from directory.merged_people where gone_id = ${authorPersonId}), ${authorPersonId})),
        coalesce(${createdAt}, clock_timestamp()))
      on conflict (dedupe_key) do nothing
      returning id, created_at
    ), to_people as (
      insert into directory.person_notes (person_id, note_id, created_at)
      select p.id, note.id, note.created_at from note, directory.people p where p.id = any(${personIds})
        or p.id in (select into_id from directory.merged_people where gone_id = any(${personIds}))
      returning person_id
    ), to_holons as (
      insert into directory.holon_notes (holon_id, note_id, created_at)
      select h.id, note.id, note.created_at from note, directory.holons h where h.id = any(${holonIds})
      returning holon_id
    )
    select id, array(select person_id from to_people order by 1) as person_ids, array(select holon_id from to_holons order by 1) as holon_ids
    from note`,
});

/** Writes a note into the feeds and returns its id and JSON. */
export const insertNote = statement.one({
  name: 'notes.insert',
  params: {
    text: t.text,
    authorPersonId: t.integer.nullable,
    membershipId: t.integer.nullable,
    relationshipId: t.integer.nullable,
    personIds: t.integer.array,
    holonIds: t.integer.array,
  },
  row: { id: t.integer, note_type: t.text, body: t.text },
  sql: ({ text, authorPersonId, membershipId, relationshipId, personIds, holonIds }) => sql`
    with note as (
      insert into directory.notes (body, author_person_id, membership_id, relationship_id)
      values (${text}, (select id from directory.people where id = ${authorPersonId}), ${membershipId}, ${relationshipId})
      returning *
    ), to_people as (
      insert into directory.person_notes (person_id, note_id, created_at)
      select distinct person_id, note.id, note.created_at from note, unnest(${personIds}) as person_id
    ), to_holons as (
      insert into directory.holon_notes (holon_id, note_id, created_at)
      select distinct holon_id, note.id, note.created_at from note, unnest(${holonIds}) as holon_id
    )
    select note.id, note.note_type, ${noteItemSql('note', 'author')}::text as body
    from note left join directory.people author on author.id = note.author_person_id`,
});

/**
 * Returns SQL that tests whether all holons of a note are visible. The list checks its own holon once. `offset 0`
 * prevents PostgreSQL from reading the notes of all feeds.
 */
const noteVisibleSql = (ownFeed: Sql, viewer: ViewerSql): Sql => sql`(${viewer.seesAll} or not exists (
    select from directory.holon_notes other join directory.holons noted on noted.id = other.holon_id
    join directory.object_classes noted_class on noted_class.id = noted.class_id
    where other.note_id = f.note_id ${ownFeed}
      and not ${holonVisibleSql('noted', 'noted_class', viewer)} offset 0))`;

interface Feed {
  readonly owner: Owner;
  readonly ownerId: SqlPart;
  readonly limit: SqlPart;
  readonly offset: SqlPart;
  readonly visible: Sql;
  readonly exists: Sql;
}

/** Returns the SQL of a feed of a person or holon, limited to visible notes. */
function visibleFeedSql({ owner, ownerId, limit, offset, visible, exists }: Feed): Sql {
  return listSql({
    from: sql`${sql.id(`directory.${owner}_notes`)} f`,
    where: sql`${sql.id(`f.${owner}_id`)} = ${ownerId} and ${visible}`,
    materializeMatches: true,
    key: sql`f.note_id`,
    order: sql`f.created_at desc, f.note_id desc`,
    itemFrom: sql`directory.notes n on n.id = page.key left join directory.people author on author.id = n.author_person_id`,
    item: noteItemSql('n', 'author'),
    limit,
    offset,
    fields: ['count', 'limit', 'items'],
    exists,
  });
}

export const listNotesOfPerson = statement.maybeOne({
  name: 'notes.feed-of-person',
  planned: 'once',
  params: { personId: t.integer, ...pageParams, ...viewerParams },
  row: bodyRow,
  sql: ({ personId, limit, offset, ...viewer }) =>
    visibleFeedSql({
      owner: 'person',
      ownerId: personId,
      limit,
      offset,
      visible: noteVisibleSql(sql.empty, viewer),
      exists: sql`exists (select from directory.people known where known.id = ${personId})`,
    }),
});

export const listNotesOfHolon = statement.maybeOne({
  name: 'notes.feed-of-holon',
  planned: 'once',
  params: { holonId: t.integer, ...pageParams, ...viewerParams },
  row: bodyRow,
  sql: ({ holonId, limit, offset, ...viewer }) =>
    visibleFeedSql({
      owner: 'holon',
      ownerId: holonId,
      limit,
      offset,
      visible: noteVisibleSql(sql`and other.holon_id <> ${holonId}`, viewer),
      exists: sql`exists (select from directory.holons own join directory.object_classes own_class on own_class.id = own.class_id
    where own.id = ${holonId} and ${holonVisibleSql('own', 'own_class', viewer)})`,
    }),
});

export const findPerson = statement.maybeOne({
  name: 'notes.find-person',
  params: { id: t.integer },
  row: { id: t.integer },
  sql: ({ id }) => sql`select id from directory.people where id = ${id}`,
});

/** Share-locks a holon until the transaction ends, and returns what the caller may do with it. */
export const lockHolonForShare = statement.maybeOne({
  name: 'notes.lock-holon',
  params: { id: t.integer, ...viewerParams },
  row: { visible: t.boolean, editable: t.boolean },
  sql: ({ id, ...viewer }) => sql`
    select ${holonVisibleSql('h', 'c', viewer)} as visible, ${canEditHolonSql('h', viewer)} as editable
    from directory.holons h join directory.object_classes c on c.id = h.class_id where h.id = ${id} for key share of h`,
});

/** Locks the note until the transaction ends. Read it in the next statement, which sees the latest version. */
export const lockNote = statement.none({
  name: 'notes.lock',
  params: { id: t.integer },
  sql: ({ id }) => sql`select id from directory.notes where id = ${id} for update`,
});

export const findNote = statement.maybeOne({
  name: 'notes.find',
  params: { id: t.integer, ...viewerParams },
  row: {
    text: t.text,
    author_person_id: t.integer.nullable,
    /** False for notes of the platform and of other services. */
    by_person: t.boolean,
    visible: t.boolean,
    body: t.text,
  },
  sql: ({ id, ...viewer }) => sql`
    select n.body as text, n.author_person_id, n.note_type = 'note' and n.dedupe_key is null as by_person,
      ${noteReadableSql('n', viewer)} as visible, ${noteItemSql('n', 'author')}::text as body
    from directory.notes n left join directory.people author on author.id = n.author_person_id where n.id = ${id}`,
});

/** Changes the text and returns the NoteItem. */
export const saveNote = statement.one({
  name: 'notes.save',
  params: { id: t.integer, text: t.text },
  row: bodyRow,
  sql: ({ id, text }) => sql`
    with n as (update directory.notes set body = ${text} where id = ${id} returning *)
    select ${noteItemSql('n', 'author')}::text as body from n left join directory.people author on author.id = n.author_person_id`,
});

export const deleteNote = statement.none({
  name: 'notes.delete',
  params: { id: t.integer },
  sql: ({ id }) => sql`delete from directory.notes where id = ${id}`,
});
