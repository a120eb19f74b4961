/** Public parts of `journeys`. */
export { addConfigAudit, journeyListItemSql, lockSteps } from './statements.ts';
