/** What other features need of journeys. */
export { journeyListItemSql } from './statements.ts';
