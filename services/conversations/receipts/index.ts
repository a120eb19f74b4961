/** Stores and settles webhook receipts (D20, D68). */
import type { Tx } from '#libs/infrastructure/orm';
import type { Queryable } from '#libs/infrastructure/sql';
import { type StoredBody, maxStoredBytes } from '#libs/product/webhooks';
import type { BookingOutcome, ReceiptSource } from './contract.ts';
import { countReceipts, updateSettled, upsertReceipt } from './statements.ts';

export { findReceipt, type StoredReceipt } from './statements.ts';

/**
 * Receipts with these outcomes are processed again when the request is repeated, because the missing object may exist
 * now.
 */
const retryableOutcomes: readonly BookingOutcome[] = ['person_not_found', 'journey_error'];

/**
 * Header of receipts that reconciliation creates (B2); it contains the source. Webhooks cannot store a header with this
 * name.
 */
export const reconciledHeader = 'x-reconciled-from';

export interface NewReceipt extends StoredBody {
  readonly source: ReceiptSource;
  readonly dedupeKey: string;
  readonly deliveryId: string;
  readonly receivedAt: string;
  /** Person id in the webhook path; empty when the path has none. */
  readonly personId: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly trigger: string | null;
  readonly outcome: string;
  readonly message: string | null;
  /** Identifiers of the booking. Receipts with a common identifier are processed in order. */
  readonly identifiers?: readonly string[];
  /** Whether one of our secrets signed the webhook; absent when the signature is verified later. */
  readonly wasSigned?: boolean;
}

/** Stores a receipt, or counts a repeated webhook. @returns the id of the receipt if it must be processed */
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
  /** Identifiers for which a waiting receipt waits. */
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

/** Returns webhook counts for the operators' overview (P1). */
export async function countWebhooks(db: Queryable) {
  return (await countReceipts(db)).map(({ source, ...count }) => ({ kind: source, ...count }));
}
