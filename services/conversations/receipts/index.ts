/** Receipts that the intakes store and the workers settle. */
export { findReceipt, type StoredReceipt } from './statements.ts';
export { insertReceipt, reconciledHeader, type Settlement, settleReceipt } from './store.ts';
