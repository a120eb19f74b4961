/** Stores and settles webhook receipts (D20, D68). */
import type { Tx } from '#libs/orm';
import type { Queryable } from '#libs/sql';
import { type StoredBody, maxStoredBytes } from '#libs/webhooks';
import type { BookingOutcome, ReceiptSource } from './contract.ts';
import { countReceipts, updateSettled, upsertReceipt } from './statements.ts';

export { findReceipt, type StoredReceipt } from './statements.ts';

/** Processed again when the same request is repeated, because the missing object may exist now. */
const retryableOutcomes: readonly BookingOutcome[] = ['person_not_found', 'journey_error'];

/** Header of receipts created by reconciliation (B2): the source. Webhooks never store a header with this name. */
export const reconciledHeader = 'x-reconciled-from';

export interface NewReceipt extends StoredBody {
  readonly source: ReceiptSource;
  readonly dedupeKey: string;
  readonly deliveryId: string;
  readonly receivedAt: string;
  /** Person id of the path; empty without one. */
  readonly personId: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly trigger: string | null;
  readonly outcome: string;
  readonly message: string | null;
  /** Identifiers of the booking. Receipts that share one are processed in order. */
  readonly identifiers?: readonly string[];
  /** Whether one of our secrets signed it; absent when that is verified later. */
  readonly wasSigned?: boolean;
}

/** Stores a receipt, or counts a repetition. @returns the id if the receipt must be processed */
export async function insertReceipt(tx: Tx, receipt: NewReceipt): Promise<number | undefined> {
  const { identifiers = [], wasSigned, headers } = receipt;
  const row = await upsertReceipt(tx, {
    ...receipt,
    identifiers,
    wasSigned,
    headers: JSON.stringify(headers),
    retryable: retryableOutcomes,
  });
  return row.is_open ? row.id : undefined;
}

/** Result of processing a receipt. */
export interface Settlement {
  readonly outcome: BookingOutcome;
  readonly message: string;
  readonly conversationId?: number | undefined;
  /** Identifiers that a waiting receipt waits for. */
  readonly identifiers?: readonly string[] | undefined;
  readonly trigger?: string | undefined;
}

export async function settleReceipt(tx: Tx, id: number, settlement: Settlement): Promise<void> {
  const { outcome, message, conversationId, identifiers = [], trigger } = settlement;
  await updateSettled(tx, {
    id,
    outcome,
    message,
    conversationId,
    identifiers,
    trigger,
    maxStoredBytes: maxStoredBytes(outcome),
  });
}

/** Webhook counts for the operators' overview (P1). */
export async function countWebhooks(db: Queryable) {
  return (await countReceipts(db)).map(({ source, ...count }) => ({ kind: source, ...count }));
}
