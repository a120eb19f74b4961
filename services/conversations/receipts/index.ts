/** Receipts that the intakes store and the workers settle. */
export { getReceipt, insertReceipt, type Settlement, settleReceipt, type StoredReceipt } from './statements.ts';
