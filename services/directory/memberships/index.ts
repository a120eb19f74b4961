/** What other features need of memberships. */
export { createMembership, showMembership } from './new-membership.ts';
export { listHolonMemberships, listPersonMemberships } from './statements/lists.ts';
