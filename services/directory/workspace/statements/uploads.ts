import { statement } from '#libs/orm';

/** `$1` = upload, `$2` = part, `$3` = text. */
export const keepUpload = statement(
  'workspace.keep-upload',
  `insert into directory.workspace_uploads (upload_id, part, body) values ($1::text, $2::integer, $3::text)
   on conflict (upload_id, part) do update set body = excluded.body, created_at = clock_timestamp()`,
);

/** `$1` = upload; its parts in order. */
export const findUpload = statement(
  'workspace.find-upload',
  'select part, body from directory.workspace_uploads where upload_id = $1::text order by part',
);

/** `$1` = upload. */
export const deleteUpload = statement('workspace.delete-upload', 'delete from directory.workspace_uploads where upload_id = $1::text');
