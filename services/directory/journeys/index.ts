/** Exports of `journeys` for other features. */
export {
  addConfigAudit,
  getJourney,
  getStep,
  journeyListItemSql,
  lockJourneyBySlug,
  lockJourneys,
  lockSteps,
} from './statements.ts';
