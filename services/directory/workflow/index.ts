/**
 * Shared code of memberships, relationships and worklists: a row at a step of a journey, with a follow-up date and a
 * responsible person.
 */
export {
  type DateSpan,
  type JourneyStep,
  type Today,
  checkFollowUp,
  findActiveStep,
  findNextStep,
  isCalendarDate,
  isFollowUpPeriod,
  spanOf,
} from './rules.ts';
export {
  findHolon,
  findJourneysFor,
  findPeople,
  membershipJoinsSql,
  membershipWithBothSql,
  membershipWithHolonSql,
  membershipWithPersonSql,
  relationshipJoinsSql,
  relationshipSql,
  rowParams,
  saveSql,
  stateParams,
  stateSql,
  workflowRow,
  worklistMembershipSql,
  worklistRelationshipSql,
} from './statements.ts';
export { type WorkflowKind, checkResponsible, findAllowedJourney, updateWorkflow } from './update.ts';
