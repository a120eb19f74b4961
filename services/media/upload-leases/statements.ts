/**
 * Uploads in progress. Each is recorded before its first byte is stored, so that whatever a killed process left in the object
 * store can be found by its key.
 */
import { sql, statement, t } from '#libs/sql';

export const startUpload = statement.none({
  name: 'media.begin-upload',
  params: { objectKey: t.text, leaseSeconds: t.double },
  sql: ({ objectKey, leaseSeconds }) => sql`insert into media.uploads (object_key, alive_until)
    values (${objectKey}, clock_timestamp() + make_interval(secs => ${leaseSeconds}))`,
});

/** Undefined when the sweep has taken the upload for dead. */
export const renewUpload = statement.maybeOne({
  name: 'media.renew-upload',
  params: { objectKey: t.text, leaseSeconds: t.double },
  row: { object_key: t.text },
  sql: ({ objectKey, leaseSeconds }) => sql`update media.uploads
    set alive_until = clock_timestamp() + make_interval(secs => ${leaseSeconds})
    where object_key = ${objectKey} and not swept returning object_key`,
});

/** Ends the record of a finished upload; undefined when the sweep has taken it for dead: its object must not be used. */
export const finishUpload = statement.maybeOne({
  name: 'media.end-upload',
  params: { objectKey: t.text },
  row: { object_key: t.text },
  sql: ({ objectKey }) => sql`delete from media.uploads where object_key = ${objectKey} and not swept returning object_key`,
});

/** Leaves a failed upload to the next sweep. */
export const abandonUpload = statement.none({
  name: 'media.abandon-upload',
  params: { objectKey: t.text },
  sql: ({ objectKey }) => sql`update media.uploads set alive_until = clock_timestamp() where object_key = ${objectKey}`,
});

/** After the sweep has removed what was left. */
export const deleteUpload = statement.none({
  name: 'media.forget-upload',
  params: { objectKey: t.text },
  sql: ({ objectKey }) => sql`delete from media.uploads where object_key = ${objectKey}`,
});

/**
 * One upload without a sign of life, now the caller's for `leaseSeconds`. Taken one by one and put off by a lease, so that replicas share the
 * work and a failed removal is tried again.
 */
export const claimExpiredUpload = statement.maybeOne({
  name: 'media.take-dead-upload',
  params: { leaseSeconds: t.double },
  row: { object_key: t.text },
  sql: ({
    leaseSeconds,
  }) => sql`update media.uploads set alive_until = clock_timestamp() + make_interval(secs => ${leaseSeconds}), swept = true
    where object_key = (
      select object_key from media.uploads where alive_until < clock_timestamp() order by alive_until limit 1 for update skip locked
    ) returning object_key`,
});
