/** Public parts of `relationships`. */
export { listHolonRelationships } from './statements.ts';
