/** Statements on notes. */
import { statement } from '#libs/orm';

/** $1 conversation, $2 key or null, $3 type, $4 body, $5 author, $6 instant. The same key adds the note once; no row then. */
export const addNote = statement(
  'notes.add',
  `insert into conversations.notes (conversation_id, key, note_type, body, author_person_id, created_at)
   values ($1, $2, $3, $4, $5, coalesce($6::timestamptz, clock_timestamp()))
   on conflict (conversation_id, key) do nothing
   returning id`,
);

/** Newest first. */
export const listNotes = statement(
  'notes.list',
  `select n.id, n.body, n.note_type, n.author_person_id, n.created_at at time zone 'UTC' as created_at
   from conversations.notes n where n.conversation_id = $1
     and ($2::integer is null or (n.created_at, n.id) <
       (select b.created_at, b.id from conversations.notes b where b.conversation_id = $1 and b.id = $2))
   order by n.created_at desc, n.id desc limit $3`,
);
