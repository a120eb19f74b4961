/** Public parts of `memberships`. */
export { createMembership, getMembershipJson } from './new-membership.ts';
export { listHolonMemberships, listPersonMemberships } from './statements/lists.ts';
