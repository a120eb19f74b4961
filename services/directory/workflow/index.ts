/** What memberships and relationships share: a row at a step of a journey, with a date to follow up and somebody responsible. */
export { checkResponsible, findAllowedJourney } from './checks.ts';
export { findHolon, findJourneysFor, findPeople } from './statements/facts.ts';
export {
  membershipJoinsSql,
  membershipWithBothSql,
  membershipWithHolonSql,
  membershipWithPersonSql,
  relationshipJoinsSql,
  relationshipSql,
  worklistMembershipSql,
  worklistRelationshipSql,
} from './statements/json.ts';
export { rowParams, saveSql, stateParams, stateSql, workflowRow } from './statements/state.ts';
export { hangsOnVisibleSql, privateClassesSql } from './statements/visible.ts';
export { updateWorkflow, type WorkflowKind } from './update.ts';
