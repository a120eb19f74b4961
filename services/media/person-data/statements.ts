/** Statements on the uploaders of files. */
import { type Parameter, sql, type Sql, statement, t } from '#libs/infrastructure/sql';

const uploader = { personId: t.integer, accountIds: t.integer.array };
const isUploader = ({ personId, accountIds }: Record<keyof typeof uploader, Parameter>): Sql =>
  sql`(created_by_person_id = ${personId} or created_by_account_id = any(${accountIds}))`;

export const countUploads = statement.one({
  name: 'media.count-uploads-of',
  params: uploader,
  row: { count: t.integer },
  sql: (params) => sql`select count(*)::integer as count from media.blobs where ${isUploader(params)}`,
});

/** Removes the uploader. Returns a row for each changed file. */
export const clearUploader = statement.many({
  name: 'media.forget-uploader',
  params: uploader,
  row: { id: t.integer },
  sql: (params) =>
    sql`update media.blobs set created_by_person_id = null, created_by_account_id = null where ${isUploader(params)} returning id`,
});

export const changeUploader = statement.none({
  name: 'media.change-uploader',
  params: { mergedId: t.integer, survivingId: t.integer },
  sql: ({ mergedId, survivingId }) =>
    sql`update media.blobs set created_by_person_id = ${survivingId} where created_by_person_id = ${mergedId}`,
});
