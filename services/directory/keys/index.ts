/** Exports of `keys` for other features: revocation of an account's keys, and random secrets for tokens. */
export { createSecret, randomId, sha256 } from './rules.ts';
export { findAccountKeys, revokeAccountKeys } from './statements.ts';
export type { Keys } from './issue.ts';
export type { KeyUses } from './uses.ts';
