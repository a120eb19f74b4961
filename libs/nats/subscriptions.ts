/**
 * The subscriptions of a connection, those that the broker refused among them: the client forgets one for good, although its user may be given the
 * permission at any time. Each is made again until the broker accepts it.
 */
import type { Msg, NatsConnection, PermissionViolationError, Subscription } from '@nats-io/transport-node';
import type { Logger } from '#libs/logger';

export interface SubscribeOptions {
  readonly queue?: string;
  readonly callback: (message: Msg) => void;
}

/** One subscription, whatever number of times it was made. */
export interface BusSubscription {
  unsubscribe(): void;
  /** Resolves when the broker sends nothing more and all that it sent is handled. */
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

  /** Subjects that the broker refuses now. */
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

  /** The broker refused one, or took the permission for one back: it names subject and, when it is new, queue. */
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
      // Nothing but the refusal of the subscription is an error here.
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

  /** Never rejects. */
  async #retry(): Promise<void> {
    const tried = [...this.#refused];
    try {
      for (const entry of tried) {
        entry.current?.unsubscribe();
        this.#open(entry);
      }
      // The broker has answered every subscription when it answers this.
      await this.#connection.flush();
    } catch {
      return; // the connection is away
    }
    for (const entry of tried) if (!entry.isRefused) this.#refused.delete(entry);
    if (this.#refused.size > 0) return;
    this.stop();
    this.#logger.info('NATS accepts every subscription again');
  }
}

/** A broker that is away confirms nothing, and sends nothing either. */
const confirmTimeoutMs = 2_000;

/** Resolves when the broker has confirmed that nothing more comes, and all that came is handed on. Never rejects. */
export async function drainSubscription(subscription: BusSubscription): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, confirmTimeoutMs);
  });
  await Promise.race([subscription.drain().catch(() => undefined), timeout]);
  clearTimeout(timer);
}
