/** What other features need of keys: those of an account end with it, or mean something else when it changes. */
export { findAccountKeys, revokeAccountKeys } from './statements.ts';
