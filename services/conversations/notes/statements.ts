/** Statements on notes. */
import { sql, statement, t } from '#libs/sql';

/** The same key adds the note once. */
export const addNote = statement.none({
  name: 'notes.add',
  params: {
    conversationId: t.integer,
    key: t.text.nullable,
    type: t.text,
    body: t.text,
    authorPersonId: t.integer.nullable,
  },
  sql: ({ conversationId, key, type, body, authorPersonId }) => sql`
    insert into conversations.notes (conversation_id, key, note_type, body, author_person_id)
    values (${conversationId}, ${key}, ${type}, ${body}, ${authorPersonId})
    on conflict (conversation_id, key) do nothing`,
});

/** Newest first; `before` is a note of the same conversation. */
export const listNotes = statement.many({
  name: 'notes.list',
  params: { conversationId: t.integer, before: t.integer.nullable, limit: t.integer },
  row: { id: t.integer, body: t.text, note_type: t.text, author_person_id: t.integer.nullable, created_at: t.timestamp },
  sql: ({ conversationId, before, limit }) => sql`
    select n.id, n.body, n.note_type, n.author_person_id, n.created_at at time zone 'UTC' as created_at
    from conversations.notes n where n.conversation_id = ${conversationId}
      and (${before} is null or (n.created_at, n.id) <
        (select b.created_at, b.id from conversations.notes b where b.conversation_id = ${conversationId} and b.id = ${before}))
    order by n.created_at desc, n.id desc limit ${limit}`,
});
