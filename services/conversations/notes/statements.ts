/** Statements on the notes of a conversation. */
import { type RowOf, sql, statement, t } from '#libs/infrastructure/sql';

const noteRow = {
  id: t.integer,
  body: t.text,
  note_type: t.text,
  author_person_id: t.integer.nullable,
  created_at: t.timestamp,
};
export type NoteRow = RowOf<typeof noteRow>;

const columns = sql`n.id, n.body, n.note_type, n.author_person_id, n.created_at at time zone 'UTC' as created_at`;

/** Returns notes, newest first; `before` is the id of a note of the same conversation. */
export const listNotes = statement.many({
  name: 'notes.list',
  params: { conversationId: t.integer, before: t.integer.nullable, limit: t.integer },
  row: noteRow,
  sql: ({ conversationId, before, limit }) => sql`
    select ${columns} from conversations.notes n where n.conversation_id = ${conversationId}
      and (${before} is null or (n.created_at, n.id) <
        (select b.created_at, b.id from conversations.notes b where b.conversation_id = ${conversationId} and b.id = ${before}))
    order by n.created_at desc, n.id desc limit ${limit}`,
});

export const createNote = statement.one({
  name: 'notes.create',
  params: { conversationId: t.integer, body: t.text, authorPersonId: t.integer.nullable },
  row: noteRow,
  sql: ({ conversationId, body, authorPersonId }) => sql`
    insert into conversations.notes as n (conversation_id, note_type, body, author_person_id)
    values (${conversationId}, 'note', ${body}, ${authorPersonId}) returning ${columns}`,
});
