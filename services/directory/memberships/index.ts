/** Exports of `memberships` for other features. */
export { createMembership, getMembershipJson } from './new-membership.ts';
export { listPersonMemberships } from './statements/lists.ts';
