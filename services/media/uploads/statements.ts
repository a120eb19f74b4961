/** The files of the bulk import. */
import { type Queryable, statement } from '#libs/orm';
import type { StoredFile } from '../schemas.ts';

const listFilesStatement = statement(
  'media.list-files',
  `select conversation_id, replace(kind, 'recording_', '') as kind, name, size_bytes, sha256, finalized from media.blobs
   where conversation_id = any($1::integer[]) and retired_at is null and kind in ('audio', 'recording_full', 'recording_front_trimmed')`,
);
const setFinalizedStatement = statement(
  'media.set-finalized',
  `update media.blobs b set finalized = i.finalized
   from jsonb_to_recordset($1::jsonb) as i(conversation_id integer, finalized boolean)
   where b.conversation_id = i.conversation_id and b.kind = 'recording_front_trimmed' and b.retired_at is null
     and b.finalized <> i.finalized
   returning b.conversation_id as id`,
);

export async function listFiles(db: Queryable, conversationIds: readonly number[]): Promise<StoredFile[]> {
  return db.query<StoredFile>(listFilesStatement, [conversationIds]);
}

/** Conversations whose trimmed recording changed. */
export async function setFinalized(db: Queryable, items: readonly { conversation_id: number; finalized: boolean }[]): Promise<number[]> {
  const rows = await db.query<{ id: number }>(setFinalizedStatement, [JSON.stringify(items)]);
  return rows.map(({ id }) => id);
}
