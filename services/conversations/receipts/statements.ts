/** Statements on webhook receipts (D20, D68). */
import type { Static } from '#libs/contract';
import { statement, type Tx } from '#libs/orm';
import { keepsBody, type KeptBody } from '#libs/webhooks';
import type { BookingOutcome, Receipt } from './contract.ts';

export interface ReceiptRow extends Omit<Static<typeof Receipt>, 'person_id'> {
  readonly person_id: string;
}

export interface StoredReceipt extends ReceiptRow {
  /** JSON. */
  readonly headers: string;
  readonly body: Buffer | null;
}

/** Columns of Receipt, from alias `r`. */
const receiptColumns = `r.id, r.source, r.received_at at time zone 'UTC' as received_at, r.person_id, r.trigger_event, r.outcome, r.message,
  r.conversation_id, r.deliveries, r.processed_at at time zone 'UTC' as processed_at, r.body_digest, r.body_size`;

/** Worked again when the same request comes again: what was missing may be there now. */
const reworked = ['person_not_found', 'journey_error'];

/**
 * A repeated request finds its receipt, without using up the number of a new one; the same delivery, delivered again by the broker, is not
 * counted again. $13 = outcomes of those that are worked again, for which the body is needed again.
 */
const insertStatement = statement(
  'receipts.insert',
  `with known as (
     update conversations.webhook_receipts r
     set deliveries = r.deliveries + (r.delivery_id <> $3)::integer, delivery_id = $3,
       body = case when r.outcome = any($13::text[]) then $8::bytea else r.body end
     where r.dedupe_key = $2
     returning r.id, r.outcome, r.outcome = any($13::text[]) as is_open
   ), added as (
     insert into conversations.webhook_receipts as r
       (source, dedupe_key, delivery_id, received_at, person_id, headers, trigger_event, body, body_digest, body_size, outcome, message)
     select $1, $2, $3, $4::timestamptz, $5, $6::jsonb, $7, $8::bytea, $9, $10::integer, $11, $12 where not exists (select from known)
     on conflict (dedupe_key) do update
       set deliveries = r.deliveries + (r.delivery_id <> excluded.delivery_id)::integer, delivery_id = excluded.delivery_id
     returning r.id, r.outcome, r.xmax = 0 as is_open
   )
   select * from known union all select * from added`,
);

export interface NewReceipt extends KeptBody {
  readonly source: 'booking' | 'meeting';
  readonly dedupeKey: string;
  readonly deliveryId: string;
  readonly receivedAt: string;
  /** Of the path; empty where the path names none. */
  readonly personId: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly trigger: string | null;
  readonly outcome: string;
  readonly message: string | null;
}

/** Stores it, or counts it when it is there. @returns its id when it is to be worked: it is new, or its outcome may be another one now */
export async function insertReceipt(tx: Tx, receipt: NewReceipt): Promise<number | undefined> {
  const { source, dedupeKey, deliveryId, receivedAt, personId, headers, trigger, body, digest, size, outcome, message } = receipt;
  const facts = [source, dedupeKey, deliveryId, receivedAt, personId, JSON.stringify(headers), trigger, body, digest, size];
  const [row] = await tx.query<{ id: number; is_open: boolean }>(insertStatement, [...facts, outcome, message, reworked]);
  return row?.is_open === true ? row.id : undefined;
}

export const getReceipt = statement(
  'receipts.get',
  `select ${receiptColumns}, r.headers, r.body from conversations.webhook_receipts r where r.id = $1`,
);

/** $1 outcome, $2 source, $3 since, $4 until, each null for any. */
const matchingSql = `($1::text is null or r.outcome = $1) and ($2::text is null or r.source = $2)
   and ($3::timestamptz is null or r.received_at >= $3) and ($4::timestamptz is null or r.received_at < $4)`;

/** Parameters of `matchingSql`, $5 limit. */
export const listReceipts = statement(
  'receipts.list',
  `select ${receiptColumns} from conversations.webhook_receipts r where ${matchingSql} order by r.received_at desc, r.id desc limit $5`,
);

export interface ReplayableRow {
  readonly id: number;
  readonly source: 'booking' | 'meeting';
  readonly has_body: boolean;
}

/** Parameters of `matchingSql`, $5 limit: oldest first. */
export const findReplayable = statement(
  'receipts.find-replayable',
  `select r.id, r.source, r.body is not null as has_body from conversations.webhook_receipts r
   where ${matchingSql} order by r.received_at, r.id limit $5`,
);

const settleStatement = statement(
  'receipts.settle',
  `update conversations.webhook_receipts
   set outcome = $2, message = $3, conversation_id = coalesce($4, conversation_id), identifiers = $5::text[],
       trigger_event = coalesce($6, trigger_event), body = case when $7::boolean then body end, processed_at = clock_timestamp()
   where id = $1`,
);

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
  const { outcome, message, conversationId = null, identifiers = [], trigger = null } = settlement;
  await tx.query(settleStatement, [id, outcome, message, conversationId, identifiers, trigger, keepsBody(outcome)]);
}

/** Webhooks of the last day by outcome. */
export const countReceipts = statement(
  'receipts.count',
  `select source, outcome, sum(deliveries) as count from conversations.webhook_receipts
   where received_at > clock_timestamp() - interval '1 day' group by source, outcome`,
);
