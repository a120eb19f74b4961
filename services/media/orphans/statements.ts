/** What is recorded of a stretch of keys, in the order of the keys' bytes, which is the object store's. */
import { statement, type Queryable } from '#libs/orm';

export interface RecordedKey {
  readonly key: string;
  /** Null: an upload that is under way, or that an import keeps. */
  readonly blob_id: number | null;
  readonly kind: string | null;
  readonly conversation_id: number | null;
  readonly age_seconds: number;
}

/** $1 after, $2 up to and with or null = to the end, $3 limit. */
const listKeysStatement = statement(
  'media.list-keys',
  `select key, blob_id, kind, conversation_id, age_seconds from (
   select object_key as key, id as blob_id, kind, conversation_id, extract(epoch from clock_timestamp() - created_at)::float8 as age_seconds
   from media.blobs where object_key collate "C" > $1 and ($2::text is null or object_key collate "C" <= $2)
   union all
   select object_key, null::integer, null::text, null::integer, extract(epoch from clock_timestamp() - started_at)::float8
   from media.uploads where object_key collate "C" > $1 and ($2::text is null or object_key collate "C" <= $2)
   ) recorded order by key collate "C" limit $3`,
);

/** Records of retired files count too: their job removes object and record. */
export async function listRecordedKeys(db: Queryable, after: string, upTo: string | null, limit: number): Promise<RecordedKey[]> {
  return db.query<RecordedKey>(listKeysStatement, [after, upTo, limit]);
}
