/** Who uploaded files. */
import { type Parameter, sql, type Sql, statement, t } from '#libs/sql';

const uploader = { personId: t.integer, accountIds: t.integer.array };
const byThem = ({ personId, accountIds }: Record<keyof typeof uploader, Parameter>): Sql =>
  sql`(created_by_person_id = ${personId} or created_by_account_id = any(${accountIds}))`;

export const countUploads = statement.one({
  name: 'media.count-uploads-of',
  params: uploader,
  row: { count: t.integer },
  sql: (given) => sql`select count(*)::integer as count from media.blobs where ${byThem(given)}`,
});

/** A row for each changed upload. */
export const forgetUploader = statement.many({
  name: 'media.forget-uploader',
  params: uploader,
  row: { id: t.integer },
  sql: (given) => sql`update media.blobs set created_by_person_id = null, created_by_account_id = null where ${byThem(given)} returning id`,
});

export const changeUploader = statement.none({
  name: 'media.change-uploader',
  params: { goneId: t.integer, intoId: t.integer },
  sql: ({ goneId, intoId }) => sql`update media.blobs set created_by_person_id = ${intoId} where created_by_person_id = ${goneId}`,
});
