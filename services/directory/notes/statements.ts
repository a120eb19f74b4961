/** Person and holon notes; JSON is made by SQL. */
import { statement } from '#libs/orm';
import { noteItemSql } from '../public-json.ts';

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
