/**
 * Shared code of memberships, relationships and worklists: a row at a step of a journey, with a follow-up date and a
 * responsible person.
 */
export {
  type DateSpan,
  type JourneyStep,
  type Today,
  findActiveStep,
  findNextStep,
  isCalendarDate,
  isFollowUpPeriod,
  spanOf,
} from './rules.ts';
export {
  findJourneysFor,
  findPeople,
  membershipJoinsSql,
  membershipTagSql,
  membershipWithBothSql,
  membershipWithHolonSql,
  membershipWithPersonSql,
  relationshipJoinsSql,
  relationshipSql,
  relationshipTagSql,
  rowParams,
  saveSql,
  stateParams,
  stateSql,
  workflowRow,
  writtenRow,
  worklistMembershipSql,
  worklistRelationshipSql,
} from './statements.ts';
export { type NewWorkflow, checkNewWorkflow, lockHolonsOf, lockPeopleOf } from './create.ts';
export {
  type WorkflowDependencies,
  type WorkflowKind,
  deleteWorkflow,
  findAllowedJourney,
  findJourney,
  updateWorkflow,
} from './update.ts';
