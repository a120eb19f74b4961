/** What other features need of journeys. */
export { addConfigAudit, journeyListItemSql, lockSteps } from './statements.ts';
