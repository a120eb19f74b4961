/** Public parts of `keys`: revocation with an account, and random secrets for tokens. */
export { createSecret, randomId, sha256 } from './rules.ts';
export { findAccountKeys, revokeAccountKeys } from './statements.ts';
export type { Keys } from './issue.ts';
export type { KeyUses } from './uses.ts';
