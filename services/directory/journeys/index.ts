/** Exports of `journeys` for other features. */
export { addConfigAudit, journeyListItemSql, lockSteps } from './statements.ts';
