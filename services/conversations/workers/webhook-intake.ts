/** From the stream of webhooks to receipts: stored once per request, judged by its bytes, worked by a job (spec 03, D20, D33d). */
import { createHash } from 'node:crypto';
import type { Static } from '#libs/contract';
import { toStorableText } from '#libs/json';
import type { RunningConsumer } from '#libs/nats';
import { type ReceivedWebhook, startReceiptIntake } from '#libs/webhooks';
import { BookingWebhook, conversations } from '../contract.ts';
import type { Dependencies } from '../dependencies.ts';
import { judgeWebhook, type Verdict } from '../domain/booking.ts';
import { insertReceipt } from '../repositories/booking.ts';

type Webhook = Static<typeof BookingWebhook>;

export const signatureHeader = 'x-cal-signature-256';
/** A repetition of a request with these outcomes is worked again: what was missing may be there now. */
const reworked = new Set(['person_not_found', 'journey_error']);

/** Begins to take webhooks off the stream; a message is acknowledged when the receipts of its webhooks are stored. */
export function startWebhookIntake(dependencies: Dependencies): Promise<RunningConsumer> {
  const { bus, logger } = dependencies;
  const from = { consumer: conversations.consumers.bookings, facts: BookingWebhook };
  return startReceiptIntake({ bus, logger, ...from, store: (webhook, received) => storeReceipt(dependencies, webhook, received) });
}

async function storeReceipt({ config, jobs }: Dependencies, webhook: Webhook, { body, traceparent }: ReceivedWebhook): Promise<void> {
  const verdict = judgeWebhook({ body, signature: webhook.headers[signatureHeader] }, config.BOOKING_WEBHOOK_SECRET);
  const { trigger, outcome, message } = describeVerdict(verdict);
  await jobs.transaction(async (tx) => {
    const [receipt] = await tx.query<{ id: number; outcome: string; is_new: boolean }>(insertReceipt, [
      dedupeKey(webhook, body, verdict),
      webhook.id,
      webhook.received_at,
      toStorableText(webhook.person_id),
      JSON.stringify(webhook.headers),
      outcome === 'rejected_unreadable' ? null : body,
      trigger,
      outcome,
      message,
    ]);
    if (receipt === undefined || verdict.kind !== 'booking') return;
    if (receipt.is_new || reworked.has(receipt.outcome)) {
      await jobs.enqueue(tx, conversations.jobs.bookingEvent, { receipt_id: receipt.id }, { requestId: webhook.id, traceparent });
    }
  });
}

function describeVerdict(verdict: Verdict): { trigger: string | null; outcome: string; message: string | null } {
  if (verdict.kind === 'booking') return { trigger: verdict.event.trigger, outcome: 'pending', message: null };
  if (verdict.kind === 'ignored') return { trigger: verdict.trigger, outcome: 'ignored', message: verdict.message };
  return { trigger: null, outcome: verdict.outcome, message: verdict.message };
}

/**
 * The provider sends no id of a delivery: the same bytes on the same hook are the same event. A rejected signature is apart, so that
 * the same body is taken when it comes well signed.
 */
function dedupeKey(webhook: Webhook, body: Buffer | null, verdict: Verdict): string {
  const hash = createHash('sha256').update(`${verdict.kind === 'rejected' ? verdict.outcome : 'taken'}\n${webhook.person_id}\n`);
  return hash.update(body ?? webhook.id).digest('hex');
}
