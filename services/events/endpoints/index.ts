/** What others need of endpoints: who may see them, and how they are disabled and end. */
export { disableEndpoint } from './disabling.ts';
export { findOwner, type OwnerId } from './owner.ts';
export { getEndpoint, lockEndpoint, markDeletedOf } from './statements.ts';
