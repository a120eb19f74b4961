/**
 * From the stream of webhooks to a service's receipts (architecture#webhooks; D20): each webhook is handed to the service, which
 * stores its receipt, and their message is acknowledged when all are stored. Webhooks come at least once; the receipt's dedupe key makes them one.
 */
import type { DurableConsumer, Static, TSchema } from '#libs/contract';
import { AppError } from '#libs/errors';
import type { Logger } from '#libs/logger';
import type { Bus, Delivery, RunningConsumer } from '#libs/nats';
import { compileSchema } from '#libs/schema';
import { findTracer, readTraceIds, traceWork } from '#libs/telemetry';
import { unpackWebhooks, type Webhook } from './message.ts';

export { decodeBody, readWebhookBody } from './body.ts';
export { findSigner, isHmac } from './signature.ts';
export { describeMissingBody, describeUnsigned, keepBody, keepHeaders, keptBytes, type KeptBody, unsignedOutcome } from './receipts.ts';
export { createRefusalLimit, createRefusalReceipts, type RefusalReceipts, refusalsPerHour } from './refusals.ts';
export { sweepReceipts, sweepReceiptsEveryMs } from './retention.ts';
export { webhookHandlers } from './operators.ts';
export { beforeFilter, declareReceiptSearch, hasText, isBefore, receiptSearchIndexes, textFilter, textFilterValues } from './search.ts';
export { measureReceipts } from './metrics.ts';
export { collectShown, keepShown } from './shown.ts';
export { declareDropContents } from './statements.ts';
export { packWebhooks, unpackWebhooks, type Webhook } from './message.ts';

/** What came with the facts of a webhook. */
export interface ReceivedWebhook {
  /** As it came; null when it was too large to be kept. */
  readonly body: Buffer | null;
  /** Rises with the order in which webhooks were accepted; those that came in the same moment share one. */
  readonly streamSequence: number;
  /** Of the request; for the jobs that follow from it. */
  readonly traceparent: string | undefined;
}

export interface ReceiptIntake<Schema extends TSchema> {
  readonly bus: Bus;
  readonly logger: Logger;
  /** As the service's contract declares it. */
  readonly consumer: DurableConsumer;
  /** Facts of a webhook. */
  readonly facts: Schema;
  /** Time after which a message whose process died is delivered again; default 30 000. */
  readonly ackWaitMs?: number;
  /** Stores the receipt; thrown errors bring the message back. */
  readonly store: (facts: Static<Schema>, received: ReceivedWebhook) => Promise<void>;
}

const concurrency = 16;
const retryDelayMs = 1_000;

/** Begins to take webhooks off the stream; a message is acknowledged when the receipts of its webhooks are stored. */
export function startReceiptIntake<Schema extends TSchema>(intake: ReceiptIntake<Schema>): Promise<RunningConsumer> {
  const { bus, logger, consumer, ackWaitMs } = intake;
  const check = compileSchema(intake.facts);

  const store = async ({ facts, body, traceparent: given }: Webhook, { subject, streamSequence }: Delivery): Promise<void> => {
    const span = findTracer()?.start(
      `receive ${subject}`,
      'consumer',
      {
        'messaging.system': 'nats',
        'messaging.operation.name': 'process',
        'messaging.operation.type': 'process',
        'messaging.destination.name': subject,
      },
      given,
    );
    const received = { body, streamSequence, traceparent: span?.traceparent ?? given };
    await traceWork(span, () => intake.store(facts as Static<Schema>, received));
  };

  /** One that cannot be stored does not keep back those behind it, unless nothing can be stored now. */
  const storeAll = async (webhooks: readonly Webhook[], delivery: Delivery): Promise<boolean> => {
    let failures = 0;
    for (const webhook of webhooks) {
      try {
        await store(webhook, delivery);
      } catch (error) {
        failures++;
        const ids = { requestId: webhook.facts.id, ...readTraceIds(webhook.traceparent) };
        logger.warn({ err: error, ...ids }, 'receipt of a webhook cannot be stored yet');
        if (error instanceof AppError && error.code === 'unavailable') break;
      }
    }
    return failures === 0;
  };

  return bus.consume({ ...consumer, concurrency, ackWaitMs }, async (delivery) => {
    const webhooks = unpackWebhooks(delivery.data);
    const sound = webhooks?.filter(({ facts }) => check(facts) === undefined) ?? [];
    if (webhooks === undefined || sound.length < webhooks.length) {
      logger.error({ streamSequence: delivery.streamSequence }, 'webhook message breaks its contract');
    }
    if (!(await storeAll(sound, delivery))) delivery.nak(retryDelayMs);
    else if (webhooks === undefined) delivery.term('malformed');
    else delivery.ack();
  });
}
