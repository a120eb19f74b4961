/** Identification, accounts and erasure of one person, for other features. */
export { closeAccounts, eraseFromDirectory } from './erase.ts';
export { findPersonIdentity, findSurvivor, type PersonIdentity } from './find.ts';
