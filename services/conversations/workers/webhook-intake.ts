/** From the stream of webhooks to receipts: stored once per request, judged by its bytes, worked by a job (spec 03, D20, D33d, D64, D68). */
import { createHash } from 'node:crypto';
import type { Static } from '#libs/contract';
import { toStorableText } from '#libs/json';
import type { RunningConsumer } from '#libs/nats';
import { createRefusalLimit, floodMessage, keepBody, keepHeaders, type ReceivedWebhook, startReceiptIntake } from '#libs/webhooks';
import { BookingWebhook, conversations } from '../contract.ts';
import type { Dependencies } from '../dependencies.ts';
import { judgeWebhook, type Verdict } from '../domain/booking.ts';
import { insertReceipt } from '../repositories/receipt.ts';

type Webhook = Static<typeof BookingWebhook>;

export const signatureHeader = 'x-cal-signature-256';
/** Of the path's person, who is a number. */
const maxPersonLength = 40;

/** Begins to take webhooks off the stream; a message is acknowledged when the receipts of its webhooks are stored. */
export function startWebhookIntake(dependencies: Dependencies): Promise<RunningConsumer> {
  const { bus, logger } = dependencies;
  const from = { consumer: conversations.consumers.bookings, facts: BookingWebhook };
  const findFlood = createRefusalLimit();
  const store = async (webhook: Webhook, { body, traceparent }: ReceivedWebhook): Promise<void> => {
    const verdict = judgeWebhook({ body, signature: webhook.headers[signatureHeader] }, dependencies.config);
    const { trigger, outcome, message } = describeVerdict(verdict);
    const flood = verdict.kind === 'rejected' ? findFlood(outcome, webhook.received_at) : undefined;
    const receipt = {
      source: 'booking',
      dedupeKey: flood === undefined ? dedupeKey(webhook, body, verdict) : `booking:${flood}`,
      deliveryId: webhook.id,
      receivedAt: webhook.received_at,
      personId: toStorableText(webhook.person_id).slice(0, maxPersonLength),
      headers: keepHeaders(outcome, webhook.headers),
      trigger,
      ...keepBody(outcome, body),
      outcome,
      message: flood === undefined ? message : floodMessage,
    } as const;
    await dependencies.jobs.transaction(async (tx) => {
      const id = await insertReceipt(tx, receipt);
      if (id === undefined || verdict.kind !== 'booking') return;
      const job = { receipt_id: id };
      await dependencies.jobs.enqueue(tx, conversations.jobs.bookingEvent, job, { requestId: webhook.id, traceparent });
    });
  };
  return startReceiptIntake({ bus, logger, ...from, store });
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
