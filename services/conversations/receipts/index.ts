/** Receipts that the intakes store and the workers settle. */
export { findReceipt, type StoredReceipt } from './statements.ts';
export { insertReceipt, type Settlement, settleReceipt } from './store.ts';
