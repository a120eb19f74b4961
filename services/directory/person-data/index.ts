/** Identification, accounts and erasure of one person, for other features. */
export { closeAccounts, eraseFromDirectory } from './erase.ts';
export { findPerson, findPersonIdentity, type PersonIdentity } from './find.ts';
export { findErasure } from './statements.ts';
