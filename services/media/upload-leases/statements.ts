/**
 * Uploads in progress. Each is recorded before its first byte is stored, so that whatever a killed process left in the object
 * store can be found by its key.
 */
import { statement, type Queryable, type Tx } from '#libs/orm';

const beginStatement = statement(
  'media.begin-upload',
  `insert into media.uploads (object_key, alive_until) values ($1, clock_timestamp() + make_interval(secs => $2))`,
);
const renewStatement = statement(
  'media.renew-upload',
  `update media.uploads set alive_until = clock_timestamp() + make_interval(secs => $2) where object_key = $1 and not swept returning 1`,
);
const endStatement = statement('media.end-upload', `delete from media.uploads where object_key = $1 and not swept returning 1`);
const abandonStatement = statement(
  'media.abandon-upload',
  `update media.uploads set alive_until = clock_timestamp() where object_key = $1`,
);
const forgetStatement = statement('media.forget-upload', `delete from media.uploads where object_key = $1`);
/** Taken one by one and put off by a lease, so that replicas share the work and a failed removal is tried again. */
const takeDeadStatement = statement(
  'media.take-dead-upload',
  `update media.uploads set alive_until = clock_timestamp() + make_interval(secs => $1), swept = true
   where object_key = (
     select object_key from media.uploads where alive_until < clock_timestamp() order by alive_until limit 1 for update skip locked
   ) returning object_key`,
);

export async function beginUpload(db: Queryable, objectKey: string, leaseSeconds: number): Promise<void> {
  await db.query(beginStatement, [objectKey, leaseSeconds]);
}

/** False when the sweep has taken the upload for dead. */
export async function renewUpload(db: Queryable, objectKey: string, leaseSeconds: number): Promise<boolean> {
  return (await db.query(renewStatement, [objectKey, leaseSeconds])).length > 0;
}

/** Ends the record of a finished upload; false when the sweep has taken it for dead: its object must not be used. */
export async function endUpload(tx: Tx, objectKey: string): Promise<boolean> {
  return (await tx.query(endStatement, [objectKey])).length > 0;
}

/** Leaves a failed upload to the next sweep. */
export async function abandonUpload(db: Queryable, objectKey: string): Promise<void> {
  await db.query(abandonStatement, [objectKey]);
}

/** After the sweep has removed what was left. */
export async function forgetUpload(db: Queryable, objectKey: string): Promise<void> {
  await db.query(forgetStatement, [objectKey]);
}

/** One upload without a sign of life, now the caller's for `leaseSeconds`. */
export async function takeDeadUpload(db: Queryable, leaseSeconds: number): Promise<string | undefined> {
  const [row] = await db.query<{ object_key: string }>(takeDeadStatement, [leaseSeconds]);
  return row?.object_key;
}
