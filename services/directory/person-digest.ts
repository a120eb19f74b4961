import { type Sql, sql } from '#libs/sql';

/** Tells the person of a row of `people` from another who has the id later: SHA-256 of id and creation, in hex. */
export const personDigestSql = (alias: string): Sql => {
  const row = sql.id(alias);
  return sql`encode(sha256(convert_to('person:' || ${row}.id || ':' || directory.iso_utc(${row}.created_at), 'UTF8')), 'hex')`;
};
