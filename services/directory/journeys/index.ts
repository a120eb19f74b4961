/** Exports of `journeys` for other features. */
export { addConfigAudit, getJourney, getStep, journeyListItemSql, lockJourneyBySlug, lockSteps } from './statements.ts';
