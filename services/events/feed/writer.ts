/**
 * The one that writes the feed (V2). Every replica wants to; who has the lease takes the messages of the stream in their order, gives them their
 * positions in one transaction at a time, and acknowledges them then. What a writer that died had in its hands comes to the next one, before
 * anything behind it enters.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '#libs/logger';
import type { Bus, Delivery, RunningConsumer } from '#libs/nats';
import type { Database } from '#libs/orm';
import { feedConsumers, feedEvents, feedPublishers } from './contract.ts';
import { type Arrival, Arrivals } from './rules/arrivals.ts';
import { inOrder, type ToldEvent, type ToldMessage } from './rules/order.ts';
import { createToldReader } from './rules/told.ts';
import { append } from './append.ts';
import { holdFeed, releaseFeed } from './statements/write.ts';

/** A writer that is silent for so long is replaced; the others look every second. */
const leaseMs = 3_000;
const renewMs = 1_000;
const tickMs = 50;
/** Messages of one transaction. */
const mostMessages = 64;
const inHands = 500;

const readTold = createToldReader(feedPublishers);

interface Message extends ToldMessage {
  readonly delivery: Delivery;
  readonly done: () => void;
}

export interface WriterDependencies {
  readonly db: Database;
  readonly bus: Bus;
  readonly logger: Logger;
  /** Events from before are not kept any more. */
  readonly retentionDays: number;
  readonly onAppended?: (events: readonly ToldEvent[]) => void;
}

export class FeedWriter {
  readonly #deps: WriterDependencies;
  readonly #holder = randomUUID();
  #running: Promise<void> | undefined;
  #stopped = false;
  #arrivals: Arrivals<Message> | undefined;
  #consumer: RunningConsumer | undefined;
  #renewedMs = 0;

  constructor(deps: WriterDependencies) {
    this.#deps = deps;
  }

  /** Whether this one writes now. */
  get writes(): boolean {
    return this.#arrivals !== undefined;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
    await this.#letGo();
    await releaseFeed(this.#deps.db, { holder: this.#holder }).catch(() => undefined);
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    let failing = false;
    while (!this.#stopped) {
      try {
        if (this.#arrivals === undefined) await this.#takeOver();
        else await this.#write(this.#arrivals);
        failing = false;
      } catch (error) {
        if (!failing) this.#deps.logger.warn({ err: error }, 'the feed cannot be written; trying again');
        failing = true;
      }
      await sleep(this.#arrivals === undefined ? renewMs : failing ? 10 * tickMs : tickMs);
    }
  }

  async #takeOver(): Promise<void> {
    const { db, bus, logger } = this.#deps;
    const held = await holdFeed(db, { holder: this.#holder, lease: leaseMs });
    if (held === undefined) return;
    this.#renewedMs = performance.now();
    this.#arrivals = new Arrivals<Message>(held.stream_sequence);
    const options = { ...feedConsumers.told, concurrency: inHands, ackWaitMs: leaseMs };
    try {
      this.#consumer = await bus.consume(options, (delivery) => this.#receive(delivery));
    } catch (error) {
      await this.#letGo();
      throw error;
    }
    logger.info({ position: held.last_position }, 'writes the feed');
  }

  /** Resolves when the message is settled. */
  async #receive(delivery: Delivery): Promise<void> {
    const service = delivery.subject.slice(delivery.subject.indexOf('.') + 1);
    const { told, problem } = readTold(service, delivery.data);
    // Its place in the order is settled with it, as an empty message.
    if (problem !== undefined) this.#deps.logger.error({ subject: delivery.subject, problem }, 'what was told breaks its contract');
    await new Promise<void>((resolve) => {
      const message = { service, told, delivery, done: resolve };
      const arrival = { sequence: delivery.streamSequence, arrivedMs: performance.now(), again: delivery.attempt > 1, message };
      if (this.#arrivals === undefined) giveBack(message);
      // Nobody would settle it otherwise, and a consumer stops when all that it gave is settled.
      else this.#arrivals.add(arrival)?.message.done();
    });
  }

  async #write(arrivals: Arrivals<Message>): Promise<void> {
    const due = arrivals.due(performance.now()).slice(0, mostMessages);
    const mustRenew = performance.now() - this.#renewedMs >= renewMs;
    if (mustRenew) for (const { message } of arrivals.waiting) message.delivery.working();
    if (due.length === 0 && !mustRenew) return;
    const events = inOrder(due.map(({ message }) => message));
    const sequence = arrivals.settledWith(due);
    const { db, retentionDays } = this.#deps;
    const position = await append(db, { hold: { holder: this.#holder, lease: leaseMs }, events, sequence, retentionDays });
    if (position === undefined) {
      this.#deps.logger.warn('somebody else writes the feed');
      await this.#letGo();
      return;
    }
    this.#renewedMs = performance.now();
    this.#settle(arrivals, due);
    if (events.length === 0) return;
    this.#deps.onAppended?.(events);
    this.#announce(position);
  }

  #settle(arrivals: Arrivals<Message>, due: readonly Arrival<Message>[]): void {
    arrivals.settle(due);
    for (const { message } of due) {
      message.delivery.ack();
      message.done();
    }
  }

  #announce(position: number): void {
    try {
      this.#deps.bus.publish(feedEvents.advanced, { position });
    } catch {
      // Who waits looks by itself.
    }
  }

  async #letGo(): Promise<void> {
    const arrivals = this.#arrivals;
    this.#arrivals = undefined;
    for (const { message } of arrivals?.clear() ?? []) giveBack(message);
    await this.#consumer?.stop();
    this.#consumer = undefined;
  }
}

function giveBack({ delivery, done }: Message): void {
  delivery.nak();
  done();
}
