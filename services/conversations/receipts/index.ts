/** Receipts that the intakes store and the workers settle. */
import type { Tx } from '#libs/orm';
import type { Queryable } from '#libs/sql';
import { type StoredBody, maxStoredBytes } from '#libs/webhooks';
import type { BookingOutcome, ReceiptSource } from './contract.ts';
import { countReceipts, updateSettled, upsertReceipt } from './statements.ts';

export { findReceipt, type StoredReceipt } from './statements.ts';

/** Worked again when the same request comes again: what was missing may be there now. */
const retryableOutcomes: readonly BookingOutcome[] = ['person_not_found', 'journey_error'];

/** In the headers of a receipt whose webhook never came: who told of it instead (B2). No header of a webhook that is kept has this name. */
export const reconciledHeader = 'x-reconciled-from';

export interface NewReceipt extends StoredBody {
  readonly source: ReceiptSource;
  readonly dedupeKey: string;
  readonly deliveryId: string;
  readonly receivedAt: string;
  /** Of the path; empty where the path names none. */
  readonly personId: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly trigger: string | null;
  readonly outcome: string;
  readonly message: string | null;
  /** What names its booking: receipts that share one are worked in order. */
  readonly identifiers?: readonly string[];
  /** Whether it was signed with one of our secrets; absent where that is found out later. */
  readonly wasSigned?: boolean;
}

/** Stores it, or counts it when it is there. @returns its id when it is to be worked: it is new, or its outcome may be another one now */
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

/** How work on a receipt ends. */
export interface Settlement {
  readonly outcome: BookingOutcome;
  readonly message: string;
  readonly conversationId?: number | undefined;
  /** What it waits for. */
  readonly identifiers?: readonly string[] | undefined;
  readonly trigger?: string | undefined;
}

export async function settleReceipt(tx: Tx, id: number, settlement: Settlement): Promise<void> {
  const { outcome, message, conversationId, identifiers = [], trigger } = settlement;
  await updateSettled(tx, { id, outcome, message, conversationId, identifiers, trigger, maxStoredBytes: maxStoredBytes(outcome) });
}

/** For the overview of operators (P1). */
export async function countWebhooks(db: Queryable) {
  return (await countReceipts(db)).map(({ source, ...count }) => ({ kind: source, ...count }));
}
