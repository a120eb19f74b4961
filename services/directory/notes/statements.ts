/** Notes and the feeds of people and holons (rules/memberships#notes; D47a, D48). JSON is made by SQL. */
import { statement } from '#libs/orm';
import { listStatement } from '../list-statement.ts';
import { noteItemSql } from '../public-json.ts';
import { holonVisibleSql } from '../visibility.ts';

function feed(owner: 'person' | 'holon') {
  return statement(
    `notes.list-${owner}`,
    `select json_build_object('items', coalesce(json_agg(${noteItemSql('n', 'p')} order by f.created_at desc, f.note_id desc), '[]'))::text as body
     from (select note_id, created_at from directory.${owner}_notes where ${owner}_id = $1::integer
             and ($3::integer is null or (created_at, note_id) <
               (select b.created_at, b.note_id from directory.${owner}_notes b where b.${owner}_id = $1::integer and b.note_id = $3::integer))
           order by created_at desc, note_id desc limit $2::integer) as f
     join directory.notes n on n.id = f.note_id
     left join directory.people p on p.id = n.author_person_id`,
  );
}

/** `$1` = person, `$2` = at most so many, `$3` = those before this note or null, newest first; one row with the reply. */
export const listPersonNotes = feed('person');
/** `$1` = holon, `$2` = at most so many, `$3` = those before this note or null, newest first; one row with the reply. */
export const listHolonNotes = feed('holon');

/**
 * `$1` = dedupe key, `$2` = body, `$3` = type, `$4` = author or null, `$5` = instant or null (now), `$6` = people, `$7` = holons.
 * Adds the note and its place in the feeds once for each key; unknown people and holons are skipped. The author of an unknown id is none.
 */
export const addNote = statement(
  'notes.add',
  `with note as (
     insert into directory.notes (dedupe_key, body, note_type, author_person_id, created_at)
     values ($1::text, $2::text, $3::text, (select id from directory.people where id = $4::integer),
       coalesce($5::timestamptz, clock_timestamp()))
     on conflict (dedupe_key) do nothing
     returning id, created_at
   ), to_people as (
     insert into directory.person_notes (person_id, note_id, created_at)
     select p.id, note.id, note.created_at from note, directory.people p where p.id = any($6::integer[])
   ), to_holons as (
     insert into directory.holon_notes (holon_id, note_id, created_at)
     select h.id, note.id, note.created_at from note, directory.holons h where h.id = any($7::integer[])
   )
   select id from note`,
);

/**
 * `$1` = text, `$2` = author or null, `$3` = membership or null, `$4` = relationship or null, `$5` = people, `$6` = holons. Writes the note
 * into every feed; one row with its id and its JSON.
 */
export const insertNote = statement(
  'notes.insert',
  `with note as (
     insert into directory.notes (body, author_person_id, membership_id, relationship_id)
     values ($1::text, (select id from directory.people where id = $2::integer), $3::integer, $4::integer)
     returning *
   ), to_people as (
     insert into directory.person_notes (person_id, note_id, created_at)
     select distinct person_id, note.id, note.created_at from note, unnest($5::integer[]) as person_id
   ), to_holons as (
     insert into directory.holon_notes (holon_id, note_id, created_at)
     select distinct holon_id, note.id, note.created_at from note, unnest($6::integer[]) as holon_id
   )
   select note.id, ${noteItemSql('note', 'author')}::text as body
   from note left join directory.people author on author.id = note.author_person_id`,
);

/**
 * A note is seen by who may see every holon that it concerns: it is in the feed of each. Of the holon of the feed itself the list is asked once.
 * `offset 0` keeps PostgreSQL from turning the question, which is asked of the notes of one feed, into a reading of all feeds.
 */
const noteVisible = (owner: 'person' | 'holon'): string => `($3::boolean or not exists (
    select from directory.holon_notes other join directory.holons noted on noted.id = other.holon_id
    join directory.object_classes noted_class on noted_class.id = noted.class_id
    where other.note_id = f.note_id ${owner === 'holon' ? 'and other.holon_id <> $1::integer' : ''}
      and not ${holonVisibleSql('noted', 'noted_class', 3)} offset 0))`;

function openFeed(owner: 'person' | 'holon', exists: string) {
  return listStatement({
    name: `notes.feed-of-${owner}`,
    from: `directory.${owner}_notes f`,
    where: `f.${owner}_id = $1::integer and ${noteVisible(owner)}`,
    foundOnce: true,
    key: 'f.note_id',
    order: 'f.created_at desc, f.note_id desc',
    itemFrom: `directory.notes n on n.id = page.key left join directory.people author on author.id = n.author_person_id`,
    item: noteItemSql('n', 'author'),
    limit: '$2::integer',
    fields: ['count', 'limit', 'items'],
    exists,
  });
}

/** `$1` = person, `$2` = limit, `$3`, `$4` = viewer. */
export const listNotesOfPerson = openFeed('person', 'exists (select from directory.people known where known.id = $1::integer)');

/** `$1` = holon, `$2` = limit, `$3`, `$4` = viewer. */
export const listNotesOfHolon = openFeed(
  'holon',
  `exists (select from directory.holons own join directory.object_classes own_class on own_class.id = own.class_id
    where own.id = $1::integer and ${holonVisibleSql('own', 'own_class', 3)})`,
);
