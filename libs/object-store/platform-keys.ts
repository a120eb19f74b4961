/**
 * The platform's own objects, under a separate prefix: the media service has no records of them, and they are not
 * orphans.
 */
export const platformPrefix = 'platform/';
/** Erasure records, so that erasures can be repeated after a database restore. */
export const erasuresPrefix = `${platformPrefix}erasures/`;
/** Empty object: writing and reading it shows that the bucket is usable when the bucket itself cannot be queried. */
export const reachableKey = `${platformPrefix}reachable`;
/** Written by each successful backup; its age is the age of the newest backup. */
export const lastBackupKey = `${platformPrefix}last-backup.json`;
