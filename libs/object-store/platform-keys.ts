/** What the platform keeps beside the files of people, under keys of its own: no record of the media service names them, and they are no orphans. */
export const platformPrefix = 'platform/';
/** Who was erased, so that a database that is put back to an earlier moment can be told again. */
export const erasuresPrefix = `${platformPrefix}erasures/`;
/** Empty: that it can be written and asked for shows that the bucket can be used, where the bucket itself may not be asked for. */
export const reachableKey = `${platformPrefix}reachable`;
/** Written by each backup that succeeds: its age is that of the newest backup. */
export const lastBackupKey = `${platformPrefix}last-backup.json`;
