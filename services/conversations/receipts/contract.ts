/** Contract: receipts of booking and meeting webhooks, for the admin CLI (D20, D68). */
import { byOperators, nullable, receiptFilter, receiptList, receiptReplay, receiptReplayResult, rpc, Type } from '#libs/contract';
import { Instant } from '../schemas.ts';

/** Every outcome of a booking or meeting webhook. */
export const bookingOutcomes = [
  'pending',
  'applied',
  'stale',
  'waiting',
  'ignored',
  'ambiguous_booking',
  'journey_error',
  'person_not_found',
  'refused_data_too_large',
  'refused_times',
  'refused_too_many_attendees',
  'rejected_signature',
  'rejected_too_large',
  'rejected_unidentified',
  'rejected_unreadable',
  'rejected_unsigned',
  'rejected_unverified',
] as const;

/** Outcomes of events that should have made a conversation but did not (V9). */
export const refusedOutcomes = [
  'ambiguous_booking',
  'journey_error',
  'refused_data_too_large',
  'refused_times',
  'refused_too_many_attendees',
  'rejected_unidentified',
] as const satisfies readonly (typeof bookingOutcomes)[number][];

export type BookingOutcome = (typeof bookingOutcomes)[number];

export const receiptSources = ['booking', 'meeting'] as const;
export type ReceiptSource = (typeof receiptSources)[number];

/** A received webhook and its outcome (D20). */
export const Receipt = Type.Object({
  id: Type.Integer(),
  source: Type.Enum([...receiptSources]),
  received_at: Instant('When the gateway took it.'),
  person_id: nullable(Type.String({ description: "The path's person, as it was written." })),
  trigger_event: nullable(Type.String()),
  outcome: Type.String({
    description:
      '`pending`, `applied`, `stale`, `waiting`, `ignored`, `ambiguous_booking`, `journey_error`, `person_not_found`, `refused_…` or `rejected_…`.',
  }),
  message: nullable(Type.String({ description: 'What was done, or why nothing was.' })),
  reconciled: Type.Boolean({ description: 'Its webhook never came: the booking service was asked (B2).' }),
  conversation_id: nullable(Type.Integer()),
  deliveries: Type.Integer({ minimum: 1, description: 'Times that the same request arrived.' }),
  processed_at: nullable(Instant('When it was worked last.')),
  body_digest: nullable(Type.String({ description: 'SHA-256 of the body as it came, in hex; null when it was too large to be read.' })),
  body_size: nullable(Type.Integer({ minimum: 0, description: 'Bytes of the body as it came; null when it was too large to be read.' })),
});

const filter = {
  ...receiptFilter(bookingOutcomes),
  source: Type.Optional(Type.Enum([...receiptSources])),
  person_id: Type.Optional(Type.Integer({ description: 'Only those whose path names this person.' })),
};

export const receiptRpcs = {
  listReceipts: rpc({
    subject: 'admin.conversations.receipts.list',
    callers: byOperators,
    summary: 'Receipts of booking and meeting webhooks, newest first.',
    request: receiptList(filter),
    reply: Type.Object({ items: Type.Array(Receipt) }),
  }),
  showReceipt: rpc({
    subject: 'admin.conversations.receipts.show',
    callers: byOperators,
    summary: 'One receipt with its headers and body. 404 when absent.',
    request: Type.Object({ id: Type.Integer() }),
    reply: Type.Object({
      ...Receipt.properties,
      headers: Type.Record(Type.String(), Type.String()),
      body: nullable(Type.String({ description: 'Raw body as text; null when it was not kept or is gone (D68).' })),
    }),
  }),
  replayReceipt: rpc({
    subject: 'admin.conversations.receipts.replay',
    callers: byOperators,
    audit: 'webhook.replay',
    summary: 'Works a receipt again. 404 when absent.',
    request: Type.Object({ id: Type.Integer() }),
    reply: Type.Object({ id: Type.Integer(), job_id: Type.String() }),
    errors: { receipt_without_body: { code: 'conflict', when: 'The body was not kept or is gone, so that there is nothing to replay.' } },
  }),
  replayReceipts: rpc({
    subject: 'admin.conversations.receipts.replay-many',
    callers: byOperators,
    audit: 'webhook.replay',
    summary: 'Works the receipts again that match, oldest first.',
    request: receiptReplay(filter),
    reply: receiptReplayResult,
    timeoutMs: 60_000,
  }),
} as const;
