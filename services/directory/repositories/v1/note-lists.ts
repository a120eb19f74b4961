/** Feeds of notes as the caller may see them (rules/memberships#notes; D47a, D48). */
import { noteItemSql } from '../../public-json.ts';
import { holonVisibleSql } from '../../visibility.ts';
import { listStatement } from '../../list-statement.ts';

/**
 * A note is seen by who may see every holon that it concerns: it is in the feed of each. Of the holon of the feed itself the list is asked once.
 * `offset 0` keeps PostgreSQL from turning the question, which is asked of the notes of one feed, into a reading of all feeds.
 */
const noteVisible = (owner: 'person' | 'holon'): string => `($3::boolean or not exists (
    select from directory.holon_notes other join directory.holons noted on noted.id = other.holon_id
    join directory.object_classes noted_class on noted_class.id = noted.class_id
    where other.note_id = f.note_id ${owner === 'holon' ? 'and other.holon_id <> $1::integer' : ''}
      and not ${holonVisibleSql('noted', 'noted_class', 3)} offset 0))`;

function feed(owner: 'person' | 'holon', exists: string) {
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
export const listNotesOfPerson = feed('person', 'exists (select from directory.people known where known.id = $1::integer)');

/** `$1` = holon, `$2` = limit, `$3`, `$4` = viewer. */
export const listNotesOfHolon = feed(
  'holon',
  `exists (select from directory.holons own join directory.object_classes own_class on own_class.id = own.class_id
    where own.id = $1::integer and ${holonVisibleSql('own', 'own_class', 3)})`,
);
