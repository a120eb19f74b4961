/** Statements of the bulk import. */
import { sql, statement, t } from '#libs/infrastructure/sql';
import type { StoredFile } from '../schemas.ts';

export const listFiles = statement.many({
  name: 'media.list-files',
  params: { conversationIds: t.integer.array },
  row: {
    conversation_id: t.integer,
    kind: t.text.as<StoredFile['kind']>(),
    name: t.text,
    size_bytes: t.bigint,
    sha256: t.text,
    finalized: t.boolean,
  },
  sql: ({
    conversationIds,
  }) => sql`select conversation_id, replace(kind, 'recording_', '') as kind, name, size_bytes, sha256, finalized
    from media.blobs
    where conversation_id = any(${conversationIds}) and retired_at is null and kind in ('audio', 'recording_full', 'recording_front_trimmed')`,
});

/**
 * Sets `finalized` of trimmed recordings. `items` is JSON: `[{conversation_id, finalized}]`. Returns the conversations
 * whose recording was changed.
 */
export const setFinalized = statement.many({
  name: 'media.set-finalized',
  params: { items: t.json },
  row: { id: t.integer },
  sql: ({ items }) => sql`update media.blobs b set finalized = i.finalized
    from jsonb_to_recordset(${items}) as i(conversation_id integer, finalized boolean)
    where b.conversation_id = i.conversation_id and b.kind = 'recording_front_trimmed' and b.retired_at is null
      and b.finalized <> i.finalized
    returning b.conversation_id as id`,
});
