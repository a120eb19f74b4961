/** Parts of documents that are too large for one message. */
import { sql, statement, t } from '#libs/sql';

export const keepUpload = statement.none({
  name: 'workspace.keep-upload',
  params: { uploadId: t.text, part: t.integer, text: t.text },
  sql: ({ uploadId, part, text }) => sql`
    insert into directory.workspace_uploads (upload_id, part, body) values (${uploadId}, ${part}, ${text})
    on conflict (upload_id, part) do update set body = excluded.body, created_at = clock_timestamp()`,
});

/** Its parts in order. */
export const findUpload = statement.many({
  name: 'workspace.find-upload',
  params: { uploadId: t.text },
  row: { part: t.integer, body: t.text },
  sql: ({ uploadId }) => sql`select part, body from directory.workspace_uploads where upload_id = ${uploadId} order by part`,
});

export const deleteUpload = statement.none({
  name: 'workspace.delete-upload',
  params: { uploadId: t.text },
  sql: ({ uploadId }) => sql`delete from directory.workspace_uploads where upload_id = ${uploadId}`,
});
