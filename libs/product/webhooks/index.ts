/** Inbound webhooks: reading from the stream, receipts, and operations for operators. */
export { decodeBody, findSigningKey, isHmac, readWebhookBody } from './body.ts';
export { packWebhooks, type ReceivedWebhook, startReceiptIntake, unpackWebhooks, type Webhook } from './intake.ts';
export { type ReplayCounts, webhookAdminHandlers } from './operators.ts';
export {
  createRefusalLimit,
  createRefusalReceipts,
  describeMissingBody,
  describeUnsigned,
  maxRefusalsPerHour,
  maxStoredBytes,
  measureReceipts,
  receiptSweepIntervalMs,
  type RefusalReceipts,
  selectStoredBody,
  selectStoredHeaders,
  type StoredBody,
  sweepReceipts,
  unsignedOutcome,
} from './receipts.ts';
export { declareReceiptSearch, receiptSearchIndexes } from './search.ts';
export { declareDropContents } from './statements.ts';
