/** Statements on logos of holons (D51). */
import { type ParamsOf, sql, statement, t } from '#libs/infrastructure/sql';

/** First key of the advisory locks of logos. */
const lockSpace = 0x6d6c; // 'ml'

export const lockLogo = statement.none({
  name: 'media.lock-logo',
  params: { holonId: t.integer },
  sql: ({ holonId }) => sql`select pg_advisory_xact_lock(${lockSpace}, ${holonId})`,
});

/** Retires the current logo of a holon. Call it under {@link lockLogo}. */
export const retireLogo = statement.many({
  name: 'media.retire-logo',
  params: { holonId: t.integer },
  row: { id: t.integer },
  sql: ({ holonId }) => sql`update media.blobs set retired_at = clock_timestamp()
    where holon_id = ${holonId} and kind = 'logo' and retired_at is null returning id`,
});

const newLogo = {
  holonId: t.integer,
  objectKey: t.text,
  name: t.text,
  contentType: t.text,
  sizeBytes: t.bigint,
  sha256: t.text,
  accountId: t.integer.nullable,
  personId: t.integer.nullable,
};
export type NewLogo = ParamsOf<typeof newLogo>;

/** Adds the logo of a holon. Call it under {@link lockLogo}, so that ids ascend in commit order. */
export const insertLogo = statement.one({
  name: 'media.insert-logo',
  params: newLogo,
  row: { id: t.integer },
  sql: (logo) => sql`insert into media.blobs
      (kind, holon_id, object_key, name, content_type, size_bytes, sha256, source, created_by_account_id, created_by_person_id)
    values ('logo', ${logo.holonId}, ${logo.objectKey}, ${logo.name}, ${logo.contentType}, ${logo.sizeBytes}, ${logo.sha256}, 'upload',
      ${logo.accountId}, ${logo.personId})
    returning id`,
});
