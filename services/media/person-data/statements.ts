/** Who uploaded files. */
import { statement } from '#libs/orm';

const byThemSql = '(created_by_person_id = $1::integer or created_by_account_id = any($2::integer[]))';

/** `$1` = person, `$2` = accounts; one row with the number of their uploads. */
export const countUploads = statement('media.count-uploads-of', `select count(*)::integer as count from media.blobs where ${byThemSql}`);

/** `$1` = person, `$2` = accounts; a row for each changed upload. */
export const forgetUploader = statement(
  'media.forget-uploader',
  `update media.blobs set created_by_person_id = null, created_by_account_id = null where ${byThemSql} returning id`,
);
