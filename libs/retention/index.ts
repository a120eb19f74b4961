/** Removes old rows in batches (architecture#data). */
export { removeInBatches, type Removal } from './batches.ts';
