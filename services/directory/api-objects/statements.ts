/**
 * Builds the JSON of the objects of the open API (rules/memberships#membership-lists), for every statement of
 * `/api/v1`. Nested objects have no timestamps; items of people, holon and search lists have them (D47a).
 */
import { type Sql, sql, statement, t } from '#libs/infrastructure/sql';

/** Returns the SQL of the actor fields for a row of `accounts`. */
export function actorFieldsSql(alias: string): Sql {
  const row = sql.id(alias);
  return sql`'kind', 'user', 'accountId', ${row}.id, 'email', ${row}.email, 'personId', ${row}.person_id, 'superuser', ${row}.superuser,
    'globalEditor', ${row}.global_editor, 'coherenceAccess', ${row}.superuser or 'coherence_users' = any(${row}.groups),
    'workspaceEditor', ${row}.superuser or 'workspace_editors' = any(${row}.groups),
    'chatAgent', ${row}.superuser or 'chat_agents' = any(${row}.groups),
    'ops', case when ${row}.superuser or 'ops_operators' = any(${row}.groups) then 'act' when 'ops_viewers' = any(${row}.groups) then 'read' end`;
}

const timestampsSql = (row: Sql): Sql =>
  sql`'created_at', directory.iso_utc(${row}.created_at), 'updated_at', directory.iso_utc(${row}.updated_at)`;

const personFieldsSql = (row: Sql): Sql =>
  sql`'id', ${row}.id, 'name', ${row}.name, 'description', ${row}.description, 'photo_url', ${row}.photo_url,
    'actor_kind', ${row}.actor_kind, 'contact', ${row}.contact`;

/** Returns the SQL of PersonPublic for a row of `people`. */
export function personPublicSql(alias: string): Sql {
  return sql`json_build_object(${personFieldsSql(sql.id(alias))})`;
}

/** Returns the SQL of PersonPublic, or of null for an unmatched outer join. */
export function personOrNullSql(alias: string): Sql {
  return sql`case when ${sql.id(alias)}.id is null then null else ${personPublicSql(alias)} end`;
}

/** Returns the SQL of PersonListItem for a row of `people`. */
export function personListItemSql(alias: string): Sql {
  const row = sql.id(alias);
  return sql`json_build_object(${personFieldsSql(row)}, ${timestampsSql(row)})`;
}

/** Returns the SQL of NoteItem for a row of `notes` and its author, if any. */
export function noteItemSql(note: string, author: string): Sql {
  const row = sql.id(note);
  return sql`json_build_object('id', ${row}.id, 'body', ${row}.body, 'note_type', ${row}.note_type,
    'created_at', directory.iso_utc(${row}.created_at), 'author_person', ${personOrNullSql(author)})`;
}

/** Returns a person as PersonPublic. */
export const getPerson = statement.maybeOne({
  name: 'v1.people.get',
  params: { id: t.integer },
  row: { body: t.text },
  sql: ({ id }) => sql`select ${personPublicSql('p')}::text as body from directory.people p where p.id = ${id}`,
});
