/**
 * Writer of the feed (V2). The replica with the lease consumes the stream in order, assigns positions in one
 * transaction at a time, and then acknowledges the messages. When a writer dies, its unacknowledged messages are
 * redelivered to the next writer before later messages are appended.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '#libs/infrastructure/logger';
import type { Bus, Delivery, RunningConsumer } from '#libs/infrastructure/nats';
import type { Database } from '#libs/infrastructure/orm';
import { append } from './append.ts';
import { feedConsumers, feedEvents, feedPublishers } from './contract.ts';
import { createMessageReader, type FeedMessage, type NewFeedEvent, sortEvents } from './rules/messages.ts';
import { type BufferedMessage, ReorderBuffer } from './rules/reorder-buffer.ts';
import { acquireFeedLease, releaseFeedLease } from './statements/write.ts';

/** A writer that does not renew its lease within this time is replaced; the other replicas check every second. */
const leaseMs = 3_000;
const renewMs = 1_000;
const tickMs = 50;
/** Maximum number of messages per transaction. */
const maxMessages = 64;
const maxUnacked = 500;

const readMessage = createMessageReader(feedPublishers);

interface Message extends FeedMessage {
  readonly delivery: Delivery;
  readonly done: () => void;
}

export interface WriterDependencies {
  readonly db: Database;
  readonly bus: Bus;
  readonly logger: Logger;
  /** Older events are not appended. */
  readonly retentionDays: number;
  readonly onAppended?: (events: readonly NewFeedEvent[]) => void;
}

export class FeedWriter {
  readonly #deps: WriterDependencies;
  readonly #holder = randomUUID();
  #running: Promise<void> | undefined;
  #stopped = false;
  #buffer: ReorderBuffer<Message> | undefined;
  #consumer: RunningConsumer | undefined;
  #renewedMs = 0;

  constructor(deps: WriterDependencies) {
    this.#deps = deps;
  }

  /** True while this process has the lease. */
  get isActive(): boolean {
    return this.#buffer !== undefined;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
    await this.#release();
    await releaseFeedLease(this.#deps.db, { holder: this.#holder }).catch(() => undefined);
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    let failing = false;
    while (!this.#stopped) {
      try {
        if (this.#buffer === undefined) await this.#acquire();
        else await this.#write(this.#buffer);
        failing = false;
      } catch (error) {
        if (!failing) this.#deps.logger.warn({ err: error }, 'feed writer: append failed, retrying');
        failing = true;
      }
      await sleep(this.#buffer === undefined ? renewMs : failing ? 10 * tickMs : tickMs);
    }
  }

  async #acquire(): Promise<void> {
    const { db, bus, logger } = this.#deps;
    const head = await acquireFeedLease(db, { holder: this.#holder, leaseMs });
    if (head === undefined) return;
    this.#renewedMs = performance.now();
    this.#buffer = new ReorderBuffer<Message>(head.stream_sequence);
    const options = { ...feedConsumers.told, concurrency: maxUnacked, ackWaitMs: leaseMs };
    try {
      this.#consumer = await bus.consume(options, (delivery) => this.#receive(delivery));
    } catch (error) {
      await this.#release();
      throw error;
    }
    logger.info({ position: head.last_position }, 'feed writer: active');
  }

  /** Buffers a message. Resolves when the message is settled. */
  async #receive(delivery: Delivery): Promise<void> {
    const service = delivery.subject.slice(delivery.subject.indexOf('.') + 1);
    const { events, problem } = readMessage(service, delivery.data);
    // An invalid message has no events, but is settled in stream order too.
    if (problem !== undefined)
      this.#deps.logger.error(
        { subject: delivery.subject, problem },
        'feed writer: message does not match its contract',
      );
    await new Promise<void>((resolve) => {
      const message = { service, events, delivery, done: resolve };
      const item = {
        sequence: delivery.streamSequence,
        receivedMs: performance.now(),
        isRedelivered: delivery.attempt > 1,
        message,
      };
      if (this.#buffer === undefined) reject(message);
      // A discarded message is settled at once, because the consumer stops only after all its messages are settled.
      else this.#buffer.add(item)?.message.done();
    });
  }

  async #write(buffer: ReorderBuffer<Message>): Promise<void> {
    const due = buffer.due(performance.now()).slice(0, maxMessages);
    const mustRenew = performance.now() - this.#renewedMs >= renewMs;
    if (mustRenew) for (const { message } of buffer.buffered) message.delivery.working();
    if (due.length === 0 && !mustRenew) return;
    const events = sortEvents(due.map(({ message }) => message));
    const sequence = buffer.settledAfter(due);
    const { db, retentionDays } = this.#deps;
    const position = await append(db, { lease: { holder: this.#holder, leaseMs }, events, sequence, retentionDays });
    if (position === undefined) {
      this.#deps.logger.warn('feed writer: lease lost');
      await this.#release();
      return;
    }
    this.#renewedMs = performance.now();
    this.#settle(buffer, due);
    if (events.length === 0) return;
    this.#deps.onAppended?.(events);
    this.#announce(position);
  }

  #settle(buffer: ReorderBuffer<Message>, due: readonly BufferedMessage<Message>[]): void {
    buffer.settle(due);
    for (const { message } of due) {
      message.delivery.ack();
      message.done();
    }
  }

  #announce(position: number): void {
    try {
      this.#deps.bus.publish(feedEvents.advanced, { position });
    } catch {
      // Waiting requests also poll, so a lost notification only delays them.
    }
  }

  async #release(): Promise<void> {
    const buffer = this.#buffer;
    this.#buffer = undefined;
    for (const { message } of buffer?.clear() ?? []) reject(message);
    await this.#consumer?.stop();
    this.#consumer = undefined;
  }
}

function reject({ delivery, done }: Message): void {
  delivery.nak();
  done();
}
