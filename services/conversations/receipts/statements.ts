/** Statements on webhook receipts (D20, D68). */
import { declareDropContents, declareReceiptSearch } from '#libs/product/webhooks';
import { type RowOf, sql, statement, t } from '#libs/infrastructure/sql';
import type { BookingOutcome, ReceiptSource } from './contract.ts';

const receiptRow = {
  id: t.integer,
  source: t.text.as<ReceiptSource>(),
  received_at: t.timestamp,
  person_id: t.text,
  trigger_event: t.text.nullable,
  outcome: t.text,
  message: t.text.nullable,
  reconciled: t.boolean,
  conversation_id: t.integer.nullable,
  deliveries: t.integer,
  processed_at: t.timestamp.nullable,
  body_digest: t.text.nullable,
  body_size: t.integer.nullable,
};
const receiptColumns = sql`r.id, r.source, r.received_at at time zone 'UTC' as received_at, r.person_id, r.trigger_event, r.outcome, r.message,
  r.headers -> 'x-reconciled-from' is not null as reconciled, r.conversation_id, r.deliveries, r.processed_at at time zone 'UTC' as processed_at, r.body_digest, r.body_size`;

/**
 * Stores a receipt. A repeated webhook updates its receipt without using a new id; a redelivery by the broker is not
 * counted. Receipts with a `retryable` outcome are processed again and store the body again.
 */
export const upsertReceipt = statement.one({
  name: 'receipts.insert',
  params: {
    source: t.text.as<ReceiptSource>(),
    dedupeKey: t.text,
    deliveryId: t.text,
    receivedAt: t.instant,
    personId: t.text,
    headers: t.json,
    trigger: t.text.nullable,
    identifiers: t.text.array,
    body: t.bytes.nullable,
    digest: t.text.nullable,
    size: t.integer.nullable,
    outcome: t.text,
    message: t.text.nullable,
    wasSigned: t.boolean.nullable,
    retryable: t.text.array,
  },
  row: { id: t.integer, outcome: t.text, is_open: t.boolean },
  sql: ({
    source,
    dedupeKey,
    deliveryId,
    receivedAt,
    personId,
    headers,
    trigger,
    identifiers,
    body,
    digest,
    size,
    outcome,
    message,
    wasSigned,
    retryable,
  }) => sql`
    with known as (
      update conversations.webhook_receipts r
      set deliveries = r.deliveries + (r.delivery_id <> ${deliveryId})::integer, delivery_id = ${deliveryId},
        body = case when r.outcome = any(${retryable}) then ${body} else r.body end,
        was_signed = case when r.outcome = any(${retryable}) then coalesce(${wasSigned}, false) else r.was_signed end
      where r.dedupe_key = ${dedupeKey}
      returning r.id, r.outcome, r.outcome = any(${retryable}) as is_open
    ), added as (
      insert into conversations.webhook_receipts as r
        (source, dedupe_key, delivery_id, received_at, person_id, headers, trigger_event, identifiers, body, body_digest, body_size, outcome,
          message, was_signed)
      select ${source}, ${dedupeKey}, ${deliveryId}, ${receivedAt}, ${personId}, ${headers}, ${trigger}, ${identifiers}, ${body}, ${digest}, ${size},
        ${outcome}, ${message}, coalesce(${wasSigned}, false)
      where not exists (select from known)
      on conflict (dedupe_key) do update
        set deliveries = r.deliveries + (r.delivery_id <> excluded.delivery_id)::integer, delivery_id = excluded.delivery_id
      returning r.id, r.outcome, r.xmax = 0 as is_open
    )
    select * from known union all select * from added`,
});

/** A receipt with its headers (JSON object), its body if stored, and whether it was signed on receipt. */
const storedReceiptRow = { ...receiptRow, headers: t.json, body: t.bytes.as<Buffer>().nullable, was_signed: t.boolean };
export type StoredReceipt = RowOf<typeof storedReceiptRow>;

export const findReceipt = statement.maybeOne({
  name: 'receipts.get',
  params: { id: t.integer },
  row: storedReceiptRow,
  sql: ({ id }) =>
    sql`select ${receiptColumns}, r.headers, r.body, r.was_signed from conversations.webhook_receipts r where r.id = ${id}`,
});

/** Stores the outcome of a receipt. A null value does not change the stored value, except for `message`. */
export const updateSettled = statement.none({
  name: 'receipts.settle',
  params: {
    id: t.integer,
    outcome: t.text.as<BookingOutcome>(),
    message: t.text,
    conversationId: t.integer.nullable,
    identifiers: t.text.array,
    trigger: t.text.nullable,
    maxStoredBytes: t.integer,
  },
  sql: ({ id, outcome, message, conversationId, identifiers, trigger, maxStoredBytes }) => sql`
    update conversations.webhook_receipts
    set outcome = ${outcome}, message = ${message}, conversation_id = coalesce(${conversationId}, conversation_id),
        identifiers = ${identifiers}, trigger_event = coalesce(${trigger}, trigger_event), body = case when octet_length(body) <= ${maxStoredBytes} then body end,
        processed_at = clock_timestamp()
    where id = ${id}`,
});

/** Returns webhook counts of the last hour and day, by source and outcome. */
export const countReceipts = statement.many({
  name: 'receipts.count',
  row: { source: t.text, outcome: t.text, last_hour: t.bigint, last_day: t.bigint },
  sql: () => sql`
    select source, outcome, coalesce(sum(deliveries) filter (where received_at > statement_timestamp() - interval '1 hour'), 0) as last_hour,
      sum(deliveries) as last_day from conversations.webhook_receipts
    where received_at > statement_timestamp() - interval '1 day' group by source, outcome`,
});

/** Declares the receipt search for operators (P4). A receipt has a person only when its path contains a possible id. */
export const receiptSearch = declareReceiptSearch({
  schema: 'conversations',
  hasSource: true,
  kind: 'booking',
  item: sql`json_build_object('id', r.id, 'kind', r.source, 'received_at', conversations.iso_utc(r.received_at), 'outcome', r.outcome,
    'message', r.message, 'event', r.trigger_event, 'person_id', case when r.person_id ~ '^[1-9][0-9]{0,8}$' then r.person_id::integer end,
    'agent_slug', null, 'conversation_id', r.conversation_id, 'update_id', null, 'chat_id', null,
    'reconciled', r.headers -> 'x-reconciled-from' is not null, 'deliveries', r.deliveries, 'processed_at', conversations.iso_utc(r.processed_at),
    'body_digest', r.body_digest, 'body_size', r.body_size)`,
});

export const dropOldBodies = declareDropContents(['body']);
