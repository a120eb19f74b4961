/** Contract of receipts of booking and meeting webhooks, for the admin CLI (D20, D68). */
import {
  byOperators,
  nullable,
  receiptFilter,
  receiptList,
  receiptReplay,
  receiptReplayResult,
  rpc,
  Type,
} from '#libs/contract';
import { Instant } from '../schemas.ts';

/** All outcomes of a booking or meeting webhook. */
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

/** Outcomes of events that should have created a conversation but did not (V9). */
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
  received_at: Instant('When the gateway received it.'),
  person_id: nullable(Type.String({ description: 'Person id of the path, as sent.' })),
  trigger_event: nullable(Type.String()),
  outcome: Type.String({
    description:
      '`pending`, `applied`, `stale`, `waiting`, `ignored`, `ambiguous_booking`, `journey_error`, `person_not_found`, `refused_…` or `rejected_…`.',
  }),
  message: nullable(Type.String({ description: 'Result, or the reason why nothing was done.' })),
  reconciled: Type.Boolean({ description: 'Created by reconciliation, because the webhook was lost (B2).' }),
  conversation_id: nullable(Type.Integer()),
  deliveries: Type.Integer({ minimum: 1, description: 'How often the same request arrived.' }),
  processed_at: nullable(Instant('When it was last processed.')),
  body_digest: nullable(
    Type.String({ description: 'SHA-256 of the received body in hex; null when it was too large to be read.' }),
  ),
  body_size: nullable(
    Type.Integer({
      minimum: 0,
      description: 'Size of the received body in bytes; null when it was too large to be read.',
    }),
  ),
});

const filter = {
  ...receiptFilter(bookingOutcomes),
  source: Type.Optional(Type.Enum([...receiptSources])),
  person_id: Type.Optional(Type.Integer({ description: 'Only receipts on the hook of this person.' })),
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
      body: nullable(
        Type.String({ description: 'Raw body as text; null when it was not stored or was removed (D68).' }),
      ),
    }),
  }),
  replayReceipt: rpc({
    subject: 'admin.conversations.receipts.replay',
    callers: byOperators,
    audit: 'webhook.replay',
    summary: 'Processes a receipt again. 404 when absent.',
    request: Type.Object({ id: Type.Integer() }),
    reply: Type.Object({ id: Type.Integer(), job_id: Type.String() }),
    errors: {
      receipt_without_body: {
        code: 'conflict',
        when: 'The body was not stored or was removed, so it cannot be replayed.',
      },
    },
  }),
  replayReceipts: rpc({
    subject: 'admin.conversations.receipts.replay-many',
    callers: byOperators,
    audit: 'webhook.replay',
    summary: 'Processes matching receipts again, oldest first.',
    request: receiptReplay(filter),
    reply: receiptReplayResult,
    timeoutMs: 60_000,
  }),
} as const;
