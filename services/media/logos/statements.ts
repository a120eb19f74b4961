/** Records of the logos of holons (D51). */
import { statement, type Tx } from '#libs/orm';

export interface NewLogo {
  readonly holonId: number;
  readonly objectKey: string;
  readonly name: string;
  readonly contentType: string;
  readonly sizeBytes: number;
  readonly sha256: string;
  readonly accountId: number | null;
  readonly personId: number | null;
}

/** First key of the advisory locks that order the logos of one holon. */
const lockSpace = 0x6d6c; // 'ml'

const lockStatement = statement('media.lock-logo', `select pg_advisory_xact_lock(${lockSpace}, $1)`);
const retireStatement = statement(
  'media.retire-logo',
  `update media.blobs set retired_at = clock_timestamp() where holon_id = $1 and kind = 'logo' and retired_at is null returning id`,
);
const insertStatement = statement(
  'media.insert-logo',
  `insert into media.blobs (kind, holon_id, object_key, name, content_type, size_bytes, sha256, source, created_by_account_id, created_by_person_id)
   values ('logo', $1, $2, $3, $4, $5, $6, 'upload', $7, $8) returning id`,
);

/** Makes a stored object the logo of its holon; ids rise in the order of the transactions. Returns the replaced ones. */
export async function replaceLogo(tx: Tx, logo: NewLogo): Promise<{ id: number; retiredIds: number[] }> {
  await tx.query(lockStatement, [logo.holonId]);
  const retired = await tx.query<{ id: number }>(retireStatement, [logo.holonId]);
  const [row] = await tx.query<{ id: number }>(insertStatement, [
    logo.holonId,
    logo.objectKey,
    logo.name,
    logo.contentType,
    logo.sizeBytes,
    logo.sha256,
    logo.accountId,
    logo.personId,
  ]);
  return { id: (row as { id: number }).id, retiredIds: retired.map(({ id }) => id) };
}
