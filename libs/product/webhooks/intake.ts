/**
 * Reads webhooks from the stream and stores them as receipts of a service (architecture#webhooks; D20). A message is
 * acknowledged when all its receipts are stored. Messages can be delivered more than once; the dedupe key of the
 * receipt prevents duplicates.
 */
import type { DurableConsumer, Static, TSchema } from '#libs/infrastructure/contract';
import { AppError } from '#libs/infrastructure/errors';
import { isJsonObject, type JsonObject, parseJson } from '#libs/infrastructure/json';
import type { Logger } from '#libs/infrastructure/logger';
import type { Bus, Delivery, RunningConsumer } from '#libs/infrastructure/nats';
import { compileSchema } from '#libs/infrastructure/schema';
import { findTracer, readTraceIds, traceWork } from '#libs/infrastructure/telemetry';

/** An accepted webhook. */
export interface Webhook {
  /** Metadata of the webhook, according to the contract of its kind. `id` is unique per delivery. */
  readonly facts: Readonly<JsonObject> & { readonly id: string };
  /** W3C trace context of the webhook's request. */
  readonly traceparent?: string | undefined;
  /** Null when the body was too large to be stored. */
  readonly body: Buffer | null;
}

export interface ReceivedWebhook {
  /** As received; null when it was too large to be stored. */
  readonly body: Buffer | null;
  /**
   * Increases in the order in which webhooks were accepted. Webhooks that were accepted together have the same number.
   */
  readonly streamSequence: number;
  /** Trace context of the webhook's request, for the jobs that the webhook starts. */
  readonly traceparent: string | undefined;
}

export interface ReceiptIntake<Schema extends TSchema> {
  readonly bus: Bus;
  readonly logger: Logger;
  /** The consumer that the contract of the service declares. */
  readonly consumer: DurableConsumer;
  /** Schema of `facts`. */
  readonly facts: Schema;
  /** Milliseconds until an unacknowledged message is redelivered; default 30 000. */
  readonly ackWaitMs?: number;
  /** Stores the receipt. If it throws an error, the message is delivered again. */
  readonly store: (facts: Static<Schema>, received: ReceivedWebhook) => Promise<void>;
}

const lineEnd = 0x0a;
const concurrency = 16;
const retryDelayMs = 1_000;

/**
 * Packs several webhooks of one kind into a message, so that the broker syncs once for all of them. The message is a
 * line of JSON with facts and sizes, followed by the unchanged bodies.
 */
export function packWebhooks(webhooks: readonly Webhook[]): Buffer {
  const line = webhooks.map(({ facts, traceparent, body }) => ({ facts, traceparent, size: body?.length ?? null }));
  return Buffer.concat([Buffer.from(`${JSON.stringify(line)}\n`), ...webhooks.flatMap(({ body }) => body ?? [])]);
}

/**
 * Returns the webhooks in a message of `packWebhooks`; undefined for any other bytes. The bodies share memory with
 * `bytes`.
 */
export function unpackWebhooks(bytes: Uint8Array): Webhook[] | undefined {
  const message = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const line = readLine(message);
  if (line === undefined) return undefined;
  let offset = line.end;
  const webhooks: Webhook[] = [];
  for (const item of line.items) {
    if (!isDescription(item)) return undefined;
    const { facts, traceparent, size } = item;
    webhooks.push({ facts, traceparent, body: size === null ? null : message.subarray(offset, offset + size) });
    offset += size ?? 0;
  }
  return offset === message.length ? webhooks : undefined;
}

interface Description extends Pick<Webhook, 'facts' | 'traceparent'> {
  readonly size: number | null;
}

function readLine(message: Buffer): { items: unknown[]; end: number } | undefined {
  const length = message.indexOf(lineEnd);
  if (length < 0) return undefined;
  try {
    const items = parseJson(message.toString('utf8', 0, length));
    return Array.isArray(items) ? { items, end: length + 1 } : undefined;
  } catch {
    return undefined;
  }
}

function isDescription(value: unknown): value is Description {
  if (!isJsonObject(value)) return false;
  const { facts, traceparent = '', size } = value;
  const isSize = size === null || (Number.isSafeInteger(size) && Number(size) >= 0);
  return isSize && typeof traceparent === 'string' && isJsonObject(facts) && typeof facts['id'] === 'string';
}

/** Starts to consume webhooks from the stream. */
export function startReceiptIntake<Schema extends TSchema>(intake: ReceiptIntake<Schema>): Promise<RunningConsumer> {
  const { bus, logger, consumer, ackWaitMs } = intake;
  const check = compileSchema(intake.facts);

  const store = async (
    { facts, body, traceparent: parent }: Webhook,
    { subject, streamSequence }: Delivery,
  ): Promise<void> => {
    const span = findTracer()?.start(
      `receive ${subject}`,
      'consumer',
      {
        'messaging.system': 'nats',
        'messaging.operation.name': 'process',
        'messaging.operation.type': 'process',
        'messaging.destination.name': subject,
      },
      parent,
    );
    const received = { body, streamSequence, traceparent: span?.traceparent ?? parent };
    await traceWork(span, () => intake.store(facts as Static<Schema>, received));
  };

  /**
   * Stores all webhooks of a message. One that cannot be stored does not block later ones, unless the database is
   * unavailable.
   */
  const storeAll = async (webhooks: readonly Webhook[], delivery: Delivery): Promise<boolean> => {
    let failures = 0;
    for (const webhook of webhooks) {
      try {
        await store(webhook, delivery);
      } catch (error) {
        failures++;
        const ids = { requestId: webhook.facts.id, ...readTraceIds(webhook.traceparent) };
        logger.warn({ err: error, ...ids }, 'webhook intake: storing a receipt failed, retrying');
        if (error instanceof AppError && error.code === 'unavailable') break;
      }
    }
    return failures === 0;
  };

  return bus.consume({ ...consumer, concurrency, ackWaitMs }, async (delivery) => {
    const webhooks = unpackWebhooks(delivery.data);
    const valid = webhooks?.filter(({ facts }) => check(facts) === undefined) ?? [];
    if (webhooks === undefined || valid.length < webhooks.length) {
      logger.error({ streamSequence: delivery.streamSequence }, 'webhook intake: message does not match its contract');
    }
    if (!(await storeAll(valid, delivery))) delivery.nak(retryDelayMs);
    else if (webhooks === undefined) delivery.term('malformed');
    else delivery.ack();
  });
}
