/** Stores booking webhooks as receipts, once per request, and enqueues their jobs (D20, D33d, D64, D68). */
import { createHash } from 'node:crypto';
import { listSecretValues } from '#libs/infrastructure/config';
import type { Static } from '#libs/infrastructure/contract';
import { toStorableText } from '#libs/infrastructure/json';
import type { RunningConsumer } from '#libs/infrastructure/nats';
import { createSecretUseCounter } from '#libs/infrastructure/telemetry';
import {
  createRefusalReceipts,
  selectStoredBody,
  selectStoredHeaders,
  type ReceivedWebhook,
  startReceiptIntake,
} from '#libs/product/webhooks';
import { conversations } from '../../contract.ts';
import type { Dependencies } from '../../dependencies.ts';
import { insertReceipt } from '../../receipts/index.ts';
import { BookingWebhook } from '../contract.ts';
import { allIdentifiersOf, classifyWebhook, signatureHeader, type Classification } from '../rules/booking-event.ts';

type Webhook = Static<typeof BookingWebhook>;

/** Maximum length of the person id in the path. */
const maxPersonLength = 40;

/** Starts the intake. A message is acknowledged after its receipts are stored. */
export function startBookingIntake(dependencies: Dependencies): Promise<RunningConsumer> {
  const { bus, config, db, jobs, logger, metrics } = dependencies;
  const from = { consumer: conversations.consumers.bookings, facts: BookingWebhook };
  const refusals = createRefusalReceipts({ db, source: 'booking' });
  const countSigner = createSecretUseCounter(
    metrics,
    'BOOKING_WEBHOOK_SECRET',
    listSecretValues(config.BOOKING_WEBHOOK_SECRET).length,
  );
  const store = async (webhook: Webhook, { body, traceparent }: ReceivedWebhook): Promise<void> => {
    const { id: deliveryId, received_at: receivedAt } = webhook;
    const classification = classifyWebhook({ body, signature: webhook.headers[signatureHeader] }, config);
    if (classification.signer !== undefined) countSigner(classification.signer);
    const key = dedupeKey(webhook, body, classification);
    const { trigger, outcome, message } = describeClassification(classification);
    const stored =
      classification.kind === 'rejected'
        ? await refusals.createReceipt({ outcome, message: classification.message, receivedAt, dedupeKey: key, body })
        : { outcome, message, dedupeKey: key, ...selectStoredBody(outcome, body) };
    if (stored === undefined) return;
    const personId = toStorableText(webhook.person_id).slice(0, maxPersonLength);
    const headers = selectStoredHeaders(outcome, webhook.headers);
    const wasSigned = classification.signer !== undefined;
    const identifiers = classification.kind === 'booking' ? allIdentifiersOf(classification.event) : [];
    const facts = {
      source: 'booking',
      deliveryId,
      receivedAt,
      personId,
      headers,
      trigger,
      identifiers,
      wasSigned,
    } as const;
    await jobs.transaction(async (tx) => {
      const id = await insertReceipt(tx, { ...facts, ...stored });
      if (id === undefined || classification.kind !== 'booking') return;
      await jobs.enqueue(
        tx,
        conversations.jobs.bookingEvent,
        { receipt_id: id },
        { requestId: deliveryId, traceparent },
      );
    });
  };
  return startReceiptIntake({ bus, logger, ...from, store });
}

function describeClassification(classification: Classification): {
  trigger: string | null;
  outcome: string;
  message: string | null;
} {
  if (classification.kind === 'booking')
    return { trigger: classification.event.trigger, outcome: 'pending', message: null };
  if (classification.kind === 'ignored')
    return { trigger: classification.trigger, outcome: 'ignored', message: classification.message };
  return { trigger: null, outcome: classification.outcome, message: classification.message };
}

/**
 * Returns the key that identifies repeated webhooks. The provider sends no delivery id, so equal bytes on the same path
 * are the same event. Rejected webhooks have separate keys, so that the body is accepted when it is received later with
 * a valid signature.
 */
function dedupeKey(webhook: Webhook, body: Buffer | null, classification: Classification): string {
  const hash = createHash('sha256').update(
    `${classification.kind === 'rejected' ? classification.outcome : 'taken'}\n${webhook.person_id}\n`,
  );
  return hash.update(body ?? webhook.id).digest('hex');
}
