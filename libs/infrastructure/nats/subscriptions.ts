/**
 * Subscriptions of a connection. The client drops a subscription that the broker denied, although the permission may be
 * granted later; here it is retried until the broker accepts it.
 */
import type { Msg, NatsConnection, PermissionViolationError, Subscription } from '@nats-io/transport-node';
import type { Logger } from '#libs/infrastructure/logger';

export interface SubscribeOptions {
  readonly queue?: string;
  readonly callback: (message: Msg) => void;
}

/** A subscription that is restored after denials. */
export interface BusSubscription {
  unsubscribe(): void;
  /** Unsubscribes. Resolves when the broker sends no more messages and all received messages are handled. */
  drain(): Promise<void>;
}

interface Entry {
  readonly subject: string;
  readonly options: SubscribeOptions;
  current: Subscription | undefined;
  isRefused: boolean;
}

const retryIntervalMs = 2_000;

export class Subscriptions {
  readonly #connection: NatsConnection;
  readonly #logger: Logger;
  readonly #entries = new Set<Entry>();
  readonly #refused = new Set<Entry>();
  #timer: NodeJS.Timeout | undefined;

  constructor(connection: NatsConnection, logger: Logger) {
    this.#connection = connection;
    this.#logger = logger;
  }

  /** Returns the subjects that the broker currently denies. */
  get refused(): readonly string[] {
    return [...new Set([...this.#refused].map(({ subject }) => subject))];
  }

  subscribe(subject: string, options: SubscribeOptions): BusSubscription {
    const entry: Entry = { subject, options, current: undefined, isRefused: false };
    this.#entries.add(entry);
    this.#open(entry);
    return {
      unsubscribe: () => {
        this.#forget(entry);
        entry.current?.unsubscribe();
      },
      drain: async () => {
        this.#forget(entry);
        await entry.current?.drain();
      },
    };
  }

  /**
   * Called when the broker denies a subscription or revokes its permission. The error contains the subject and, for a
   * new subscription, its queue.
   */
  onViolation({ subject, queue }: Pick<PermissionViolationError, 'subject' | 'queue'>): void {
    for (const entry of this.#entries) {
      if (entry.subject === subject && (queue === undefined || queue === entry.options.queue)) this.#refuse(entry);
    }
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #open(entry: Entry): void {
    const { queue, callback } = entry.options;
    entry.isRefused = false;
    entry.current = this.#connection.subscribe(entry.subject, {
      ...(queue === undefined ? {} : { queue }),
      // The only possible error is a denied subscription.
      callback: (error, message) => (error === null ? callback(message) : this.#refuse(entry)),
    });
  }

  #refuse(entry: Entry): void {
    if (!this.#entries.has(entry)) return;
    entry.isRefused = true;
    this.#refused.add(entry);
    this.#timer ??= setInterval(() => void this.#retry(), retryIntervalMs).unref();
  }

  #forget(entry: Entry): void {
    this.#entries.delete(entry);
    this.#refused.delete(entry);
  }

  /** Repeats denied subscriptions. Never rejects. */
  async #retry(): Promise<void> {
    const tried = [...this.#refused];
    try {
      for (const entry of tried) {
        entry.current?.unsubscribe();
        this.#open(entry);
      }
      // When the broker answers the flush, it has processed every subscription.
      await this.#connection.flush();
    } catch {
      return; // disconnected
    }
    for (const entry of tried) if (!entry.isRefused) this.#refused.delete(entry);
    if (this.#refused.size > 0) return;
    this.stop();
    this.#logger.info('NATS accepts every subscription again');
  }
}

/** Time to wait for the broker. A disconnected broker does not confirm, but also sends no messages. */
const confirmTimeoutMs = 2_000;

/** Unsubscribes. Resolves when the broker has confirmed it and all received messages are handled. Never rejects. */
export async function drainSubscription(subscription: BusSubscription): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, confirmTimeoutMs);
  });
  await Promise.race([subscription.drain().catch(() => undefined), timeout]);
  clearTimeout(timer);
}
