/**
 * Statements on uploads in progress. Each upload is recorded before its first byte is stored, so that objects of a
 * killed process can be found by their keys.
 */
import { sql, statement, t } from '#libs/infrastructure/sql';

export const startUpload = statement.none({
  name: 'media.begin-upload',
  params: { objectKey: t.text, leaseSeconds: t.double },
  sql: ({ objectKey, leaseSeconds }) => sql`insert into media.uploads (object_key, alive_until)
    values (${objectKey}, clock_timestamp() + make_interval(secs => ${leaseSeconds}))`,
});

/** Renews the lease. Returns undefined when the sweep has claimed the upload. */
export const renewUpload = statement.maybeOne({
  name: 'media.renew-upload',
  params: { objectKey: t.text, leaseSeconds: t.double },
  row: { object_key: t.text },
  sql: ({ objectKey, leaseSeconds }) => sql`update media.uploads
    set alive_until = clock_timestamp() + make_interval(secs => ${leaseSeconds})
    where object_key = ${objectKey} and not swept returning object_key`,
});

/**
 * Deletes the record of a finished upload. Returns undefined when the sweep has claimed the upload; its object must
 * then not be used.
 */
export const finishUpload = statement.maybeOne({
  name: 'media.end-upload',
  params: { objectKey: t.text },
  row: { object_key: t.text },
  sql: ({ objectKey }) =>
    sql`delete from media.uploads where object_key = ${objectKey} and not swept returning object_key`,
});

/** Expires the lease, so that the next sweep removes the upload. */
export const abandonUpload = statement.none({
  name: 'media.abandon-upload',
  params: { objectKey: t.text },
  sql: ({ objectKey }) => sql`update media.uploads set alive_until = clock_timestamp() where object_key = ${objectKey}`,
});

/** Deletes the record after the sweep has removed the object. */
export const deleteUpload = statement.none({
  name: 'media.forget-upload',
  params: { objectKey: t.text },
  sql: ({ objectKey }) => sql`delete from media.uploads where object_key = ${objectKey}`,
});

/**
 * Claims one upload with an expired lease, for `leaseSeconds`. Uploads are claimed one by one, so that replicas share
 * the work and failed removals are retried.
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
