/**
 * A durable pull consumer. It requests as many messages as it can handle, so that none waits in one process while
 * another is idle, and repeats the request when the broker is silent, restarts, or loses the consumer.
 */
import { type Msg, nanos } from '@nats-io/transport-node';
import type { Logger } from '#libs/infrastructure/logger';
import { drainSubscription, type BusSubscription } from './subscriptions.ts';
import { randomToken } from './token.ts';
import { readHeader } from './wire.ts';
import type { Publisher, ConnectionParts } from './publisher.ts';
import type { Prefixes, StreamName } from './streams.ts';

export interface ConsumerOptions {
  readonly stream: StreamName;
  /** Name of the consumer, which all replicas share. */
  readonly durable: string;
  /** Subject or wildcard of the stream, without prefix. */
  readonly filter: string;
  /** Maximum number of messages that this process handles concurrently. */
  readonly concurrency: number;
  /** Time after which a message without an acknowledgement or `working()` is redelivered. Default 30 000. */
  readonly ackWaitMs?: number | undefined;
}

/** One delivery of a message. The first call of `ack`, `nak` or `term` settles it; later calls are ignored. */
export interface Delivery {
  /** Subject without the subject prefix. */
  readonly subject: string;
  readonly data: Uint8Array;
  /** Number of the delivery, 1 for the first. */
  readonly attempt: number;
  readonly streamSequence: number;
  header(name: string): string | undefined;
  ack(): void;
  /** Lets the broker redeliver the message after `delayMs`. */
  nak(delayMs?: number): void;
  /** Restarts the ack wait. */
  working(): void;
  /** Prevents any redelivery of the message. */
  term(reason: string): void;
}

export interface RunningConsumer {
  /** Stops receiving messages. Resolves when all messages in progress are settled. */
  stop(): Promise<void>;
}

export interface ConsumerDependencies extends Pick<ConnectionParts, 'subscriptions' | 'publisher'> {
  readonly logger: Logger;
  readonly prefixes: Prefixes;
  /** Creates stream and consumer when the broker lost them. */
  readonly ensure: () => Promise<void>;
}

const pullExpiresMs = 30_000;
const heartbeatMs = 5_000;
const checkIntervalMs = 1_000;
const silenceLimitMs = 12_000;
const failedHandlerDelayMs = 5_000;

export class Consumer {
  readonly #deps: ConsumerDependencies;
  readonly #options: ConsumerOptions;
  readonly #handler: (delivery: Delivery) => Promise<void>;
  readonly #pullSubject: string;
  #subscription: BusSubscription | undefined;
  #inbox = '';
  #requested = 0;
  #inFlight = 0;
  #lastMessageAtMs = 0;
  #stopping = false;
  #repairing = false;
  #timer: NodeJS.Timeout | undefined;
  #idle: (() => void) | undefined;

  constructor(deps: ConsumerDependencies, options: ConsumerOptions, handler: (delivery: Delivery) => Promise<void>) {
    this.#deps = deps;
    this.#options = options;
    this.#handler = handler;
    this.#pullSubject = `$JS.API.CONSUMER.MSG.NEXT.${deps.prefixes.stream}${options.stream}.${options.durable}`;
  }

  start(): void {
    this.#timer = setInterval(() => this.#check(), checkIntervalMs);
    this.#subscribe();
    this.#pull();
  }

  /** Requests messages again, because a reconnection invalidates pending pull requests. */
  resume(): void {
    if (this.#stopping) return;
    this.#requested = 0;
    void this.#repair();
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    clearInterval(this.#timer);
    // Unsubscribes first, so that the broker sends no more messages to this process. Undelivered messages are
    // redelivered to other replicas.
    if (this.#subscription !== undefined) await drainSubscription(this.#subscription);
    if (this.#inFlight > 0) await new Promise<void>((resolve) => (this.#idle = resolve));
  }

  #subscribe(): void {
    this.#subscription?.unsubscribe();
    this.#inbox = `${this.#deps.prefixes.inbox}.${randomToken()}`;
    this.#subscription = this.#deps.subscriptions.subscribe(this.#inbox, {
      callback: (message) => {
        this.#lastMessageAtMs = performance.now();
        if (message.subject === this.#inbox) this.#onStatus(message);
        else this.#onDelivery(message);
      },
    });
  }

  /**
   * Requests messages for free slots in batches: immediately when no message is in progress, otherwise when half of the
   * slots are free.
   */
  #pull(): void {
    if (this.#stopping || this.#repairing) return;
    const free = this.#options.concurrency - this.#inFlight - this.#requested;
    if (free <= 0 || (this.#requested > 0 && free < Math.ceil(this.#options.concurrency / 2))) return;
    if (this.#requested === 0) this.#lastMessageAtMs = performance.now();
    this.#requested += free;
    const request = { batch: free, expires: nanos(pullExpiresMs), idle_heartbeat: nanos(heartbeatMs) };
    const onRefused = (): void => void (this.#requested -= free);
    this.#deps.publisher.publish(this.#pullSubject, JSON.stringify(request), { reply: this.#inbox }, onRefused);
  }

  #onStatus(message: Msg): void {
    const code = message.headers?.code ?? 0;
    if (code === 100) return;
    const unused = Number(readHeader(message.headers, 'Nats-Pending-Messages'));
    this.#requested = Number.isFinite(unused) && code !== 503 ? Math.max(0, this.#requested - unused) : 0;
    const expired = code === 408;
    if (expired) {
      this.#pull();
      return;
    }
    this.#deps.logger.debug(
      { code, description: message.headers?.description, consumer: this.#options.durable },
      'pull ended',
    );
    void this.#repair();
  }

  #onDelivery(message: Msg): void {
    this.#requested = Math.max(0, this.#requested - 1);
    this.#inFlight++;
    void this.#work(new DeliveredMessage(this.#deps.publisher, message, this.#deps.prefixes.subject));
    this.#pull();
  }

  /** Handles one message. Never rejects. */
  async #work(delivery: DeliveredMessage): Promise<void> {
    try {
      if (this.#stopping) delivery.nak();
      else await this.#handler(delivery);
    } catch (error) {
      this.#deps.logger.error({ err: error, consumer: this.#options.durable }, 'delivery failed');
      delivery.nak(failedHandlerDelayMs);
    } finally {
      this.#inFlight--;
      if (this.#inFlight === 0) this.#idle?.();
      this.#pull();
    }
  }

  /** Runs once a second and repeats a pull request that the broker no longer has. */
  #check(): void {
    if (this.#requested > 0 && performance.now() - this.#lastMessageAtMs > silenceLimitMs) {
      this.#requested = 0;
      void this.#repair();
    } else {
      this.#pull();
    }
  }

  /** Creates the consumer if it is missing, then requests messages. Never rejects. */
  async #repair(): Promise<void> {
    if (this.#repairing || this.#stopping) return;
    this.#repairing = true;
    try {
      await this.#deps.ensure();
    } catch (error) {
      this.#deps.logger.warn({ err: error, consumer: this.#options.durable }, 'consumer cannot be repaired yet');
      await new Promise((resolve) => setTimeout(resolve, checkIntervalMs));
      this.#lastMessageAtMs = -Infinity;
    } finally {
      this.#repairing = false;
    }
    this.#pull();
  }
}

class DeliveredMessage implements Delivery {
  readonly subject: string;
  readonly attempt: number;
  readonly streamSequence: number;
  readonly #publisher: Publisher;
  readonly #message: Msg;
  readonly #reply: string;
  #settled = false;

  constructor(publisher: Publisher, message: Msg, prefix: string) {
    this.#publisher = publisher;
    this.#message = message;
    this.#reply = message.reply ?? '';
    this.subject = message.subject.slice(prefix.length);
    // $JS.ACK.<stream>.<consumer>.<delivered>.<stream seq>…, or with domain and account hash before the stream
    const tokens = this.#reply.split('.');
    const offset = tokens.length >= 11 ? 2 : 0;
    this.attempt = Number(tokens[4 + offset]);
    this.streamSequence = Number(tokens[5 + offset]);
  }

  get data(): Uint8Array {
    return this.#message.data;
  }

  header(name: string): string | undefined {
    return readHeader(this.#message.headers, name);
  }

  ack(): void {
    this.#settle('+ACK');
  }

  nak(delayMs?: number): void {
    this.#settle(delayMs === undefined ? '-NAK' : `-NAK ${JSON.stringify({ delay: nanos(Math.round(delayMs)) })}`);
  }

  working(): void {
    if (!this.#settled) this.#publisher.publish(this.#reply, '+WPI');
  }

  term(reason: string): void {
    this.#settle(`+TERM ${reason}`);
  }

  /** Publishes an acknowledgement. If it cannot be sent, it is lost; handlers must tolerate redelivery anyway. */
  #settle(text: string): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#publisher.publish(this.#reply, text);
  }
}
