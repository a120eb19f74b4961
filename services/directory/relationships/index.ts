/** What other features need of relationships. */
export { listHolonRelationships } from './statements.ts';
