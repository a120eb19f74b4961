/** Backups of an installation: create, verify, restore (rules/operations#backups). */
export { isComplete, listIds, openBackup } from './catalog.ts';
export { createBackup } from './create.ts';
export { idGap, raiseGivenIds } from './database.ts';
export { keepErasures } from './erasures.ts';
export { BackupError } from './errors.ts';
export { createFolderTarget } from './folder-target.ts';
export type { Manifest } from './manifest.ts';
export { pruneBackups } from './prune.ts';
export { afterRows, restoreBackup } from './restore.ts';
export { createSeal, createUnseal, generateKeys } from './seal.ts';
export { createStoreTarget, readStoreAddress } from './store-target.ts';
export type { BackupTarget } from './target.ts';
export { verifyBackup } from './verify.ts';
