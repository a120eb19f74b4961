/**
 * From the stream of webhooks to a service's receipts (architecture §2, Webhooks; spec 03, D20): each message is handed to the service, which
 * stores its receipt, and is acknowledged when that is done. Messages come at least once; the receipt's dedupe key makes them one.
 */
import type { DurableConsumer, Static, TSchema } from '#libs/contract';
import { findJsonProblem, isJsonObject, type JsonObject, parseJson } from '#libs/json';
import type { Logger } from '#libs/logger';
import type { Bus, Delivery, RunningConsumer } from '#libs/nats';
import { compileSchema } from '#libs/schema';
import { getTracer, readTraceId, traceWork } from '#libs/telemetry';

/** What is known of a webhook besides the gateway's message. */
export interface ReceivedWebhook {
  /** Rises with the order in which webhooks were accepted. */
  readonly streamSequence: number;
  /** Of the request; for the jobs that follow from it. */
  readonly traceparent: string | undefined;
}

export interface ReceiptIntake<Schema extends TSchema> {
  readonly bus: Bus;
  readonly logger: Logger;
  /** As the service's contract declares it. */
  readonly consumer: DurableConsumer;
  /** The gateway's message. */
  readonly message: Schema;
  /** Time after which a message whose process died is delivered again; default 30 000. */
  readonly ackWaitMs?: number;
  /** Stores the receipt; thrown errors bring the message back. */
  readonly store: (webhook: Static<Schema>, delivery: ReceivedWebhook) => Promise<void>;
}

const concurrency = 16;
const retryDelayMs = 1_000;

/** Begins to take webhooks off the stream; one is acknowledged when its receipt is stored. */
export function startReceiptIntake<Schema extends TSchema>(intake: ReceiptIntake<Schema>): Promise<RunningConsumer> {
  const { bus, logger, consumer, ackWaitMs } = intake;
  const check = compileSchema(intake.message);
  return bus.consume({ ...consumer, concurrency, ackWaitMs }, async (delivery) => {
    const webhook = readMessage(delivery);
    if (webhook === undefined || check(webhook) !== undefined) {
      logger.error({ streamSequence: delivery.streamSequence }, 'webhook message breaks its contract');
      delivery.term('malformed');
      return;
    }
    try {
      const given = delivery.header('traceparent');
      const span = getTracer()?.start(`receive ${delivery.subject}`, 'consumer', { 'messaging.system': 'nats' }, given);
      const received = { streamSequence: delivery.streamSequence, traceparent: span?.traceparent ?? given };
      await traceWork(span, () => intake.store(webhook as Static<Schema>, received));
      delivery.ack();
    } catch (error) {
      logger.warn(
        { err: error, requestId: webhook['id'], traceId: readTraceId(delivery.header('traceparent')) },
        'receipt of a webhook cannot be stored yet',
      );
      delivery.nak(retryDelayMs);
    }
  });
}

function readMessage(delivery: Delivery): JsonObject | undefined {
  try {
    const value = parseJson(Buffer.from(delivery.data).toString('utf8'));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** A webhook's body as JSON object; undefined when it is not UTF-8, no JSON, no object, nested too deeply or cannot be stored (D33d). */
export function readWebhookBody(body: Buffer): JsonObject | undefined {
  try {
    const document = parseJson(new TextDecoder('utf-8', { fatal: true }).decode(body));
    return isJsonObject(document) && findJsonProblem(document) === undefined ? document : undefined;
  } catch {
    return undefined; // not UTF-8, not JSON, or nested deeper than the parser goes
  }
}

/** Text that PostgreSQL can hold, of a part of the request that nobody has checked. */
export const toStorableText = (text: string): string => text.replaceAll('\u0000', '').toWellFormed();
