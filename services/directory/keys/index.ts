/** What other features need of keys: an account's keys end or change with it, and sessions use the same random secrets. */
export { createSecret, randomId, sha256 } from './rules.ts';
export { findAccountKeys, revokeAccountKeys } from './statements.ts';
