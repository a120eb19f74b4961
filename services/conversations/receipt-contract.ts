/** Contract: receipts of booking and meeting webhooks, for the admin CLI (D20, D68). */
import { byOperators, receiptFilter, receiptList, receiptReplay, replayedReceipts, rpc, Type } from '#libs/contract';
import { bookingOutcomes, nullable, Receipt } from './schemas.ts';

const filter = { ...receiptFilter(bookingOutcomes), source: Type.Optional(Type.Enum(['booking', 'meeting'])) };

/** To be spread into the contract of the service. */
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
    summary: 'Works a receipt again. 404 when absent.',
    request: Type.Object({ id: Type.Integer() }),
    reply: Type.Object({ id: Type.Integer(), job_id: Type.String() }),
    errors: { receipt_without_body: { code: 'conflict', when: 'The body was not kept or is gone, so that there is nothing to replay.' } },
  }),
  replayReceipts: rpc({
    subject: 'admin.conversations.receipts.replay-many',
    callers: byOperators,
    summary: 'Works the receipts again that match, oldest first.',
    request: receiptReplay(filter),
    reply: replayedReceipts,
    timeoutMs: 60_000,
  }),
} as const;
