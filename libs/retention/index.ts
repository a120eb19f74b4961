/** Removes old rows in batches (architecture#data). */
export { removeInBatches } from './batches.ts';
