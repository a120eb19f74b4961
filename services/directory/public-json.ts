/**
 * SQL of the objects that the open API shows (rules/memberships#membership-lists). Every statement of `/api/v1` builds its JSON from these. Objects inside items
 * carry no timestamps, items of people, holon and search lists do (D47a).
 */
import { holonVisibleSql } from './visibility.ts';

const timestampsSql = (alias: string): string =>
  `'created_at', directory.iso_utc(${alias}.created_at), 'updated_at', directory.iso_utc(${alias}.updated_at)`;

const personFieldsSql = (alias: string): string =>
  `'id', ${alias}.id, 'name', ${alias}.name, 'description', ${alias}.description, 'photo_url', ${alias}.photo_url,
    'actor_kind', ${alias}.actor_kind, 'contact', ${alias}.contact`;

/** PersonPublic of a row of `people`. */
export function personPublicSql(alias: string): string {
  return `json_build_object(${personFieldsSql(alias)})`;
}

/** PersonPublic, or null for the row that an outer join did not find. */
export function personOrNullSql(alias: string): string {
  return `case when ${alias}.id is null then null else ${personPublicSql(alias)} end`;
}

/** PersonListItem of a row of `people`. */
export function personListItemSql(alias: string): string {
  return `json_build_object(${personFieldsSql(alias)}, ${timestampsSql(alias)})`;
}

/** The parent is named to those who may see it. */
const holonFieldsSql = (holon: string, objectClass: string, viewer: number): string =>
  `'id', ${holon}.id, 'name', ${holon}.name, 'slug', ${holon}.slug, 'type', ${objectClass}.slug, 'description', ${holon}.description,
    'parent_id', (select outer_holon.id from directory.holons outer_holon join directory.object_classes outer_class on outer_class.id = outer_holon.class_id
      where outer_holon.id = ${holon}.parent_id and ${holonVisibleSql('outer_holon', 'outer_class', viewer)}),
    'logo_url', ${holon}.logo_url, 'links', ${holon}.links`;

/**
 * HolonPublic of a row of `holons` and its class.
 * @param viewer place of the first of the two viewer parameters, as in `holonVisibleSql`
 */
export function holonPublicSql(holon: string, objectClass: string, viewer: number): string {
  return `json_build_object(${holonFieldsSql(holon, objectClass, viewer)})`;
}

/** HolonListItem; parameters as in `holonPublicSql`. */
export function holonListItemSql(holon: string, objectClass: string, viewer: number): string {
  return `json_build_object(${holonFieldsSql(holon, objectClass, viewer)}, ${timestampsSql(holon)})`;
}

/** NoteItem of a row of `notes` and of its author, who may be missing. */
export function noteItemSql(note: string, author: string): string {
  return `json_build_object('id', ${note}.id, 'body', ${note}.body, 'note_type', ${note}.note_type,
    'created_at', directory.iso_utc(${note}.created_at), 'author_person', ${personOrNullSql(author)})`;
}
