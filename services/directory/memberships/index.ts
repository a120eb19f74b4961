/** Exports of `memberships` for other features. */
export { createMembership, getMembershipJson } from './new-membership.ts';
