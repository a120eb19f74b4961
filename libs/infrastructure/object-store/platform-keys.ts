/**
 * Prefix of the platform's own objects. The media service has no records of them, so the prefix distinguishes them from
 * orphans.
 */
export const platformPrefix = 'platform/';
/** Prefix of erasure records, with which erasures are repeated after a database restore. */
export const erasuresPrefix = `${platformPrefix}erasures/`;
/** Key of an empty object. Writing and reading it shows that the bucket is usable when the bucket cannot be listed. */
export const reachableKey = `${platformPrefix}reachable`;
/** Key of an object that each successful backup writes; its age is the age of the newest backup. */
export const lastBackupKey = `${platformPrefix}last-backup.json`;
