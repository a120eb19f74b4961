/** Exports of `relationships` for other features. */
export { listHolonRelationships } from './statements.ts';
