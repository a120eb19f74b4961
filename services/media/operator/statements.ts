/** Statement on recorded object keys, sorted by their bytes like in the object store. */
import { type RowOf, sql, statement, t } from '#libs/infrastructure/sql';

const columns = {
  key: t.text,
  /** Null for an upload in progress, or for a recording that an import stores. */
  blob_id: t.integer.nullable,
  kind: t.text.nullable,
  conversation_id: t.integer.nullable,
  age_seconds: t.double,
};
export type RecordedKey = RowOf<typeof columns>;

/**
 * Returns the keys after `after`, up to and including `through` (null means no limit). Retired files are included,
 * because their job deletes object and record.
 */
export const listRecordedKeys = statement.many({
  name: 'media.list-keys',
  params: { after: t.text, through: t.text.nullable, limit: t.integer },
  row: columns,
  sql: ({ after, through, limit }) => sql`select key, blob_id, kind, conversation_id, age_seconds from (
      select object_key as key, id as blob_id, kind, conversation_id, extract(epoch from clock_timestamp() - created_at)::float8 as age_seconds
      from media.blobs where object_key collate "C" > ${after} and (${through} is null or object_key collate "C" <= ${through})
      union all
      select object_key, null::integer, null::text, null::integer, extract(epoch from clock_timestamp() - started_at)::float8
      from media.uploads where object_key collate "C" > ${after} and (${through} is null or object_key collate "C" <= ${through})
    ) recorded order by key collate "C" limit ${limit}`,
});
