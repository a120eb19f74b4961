/**
 * Batches all messages of one event-loop turn into one write. Under load a turn serves many requests, and separate
 * system calls and broker wake-ups would dominate (docs/performance-notes.md#batching-per-event-loop-turn).
 */
import type { NatsConnection, PublishOptions } from '@nats-io/transport-node';
import type { Inbox } from './inbox.ts';
import type { ReaderWindows } from './reader-windows.ts';
import type { Subscriptions } from './subscriptions.ts';

/** Objects that the components of the bus share. */
export interface ConnectionParts {
  readonly connection: NatsConnection;
  readonly subscriptions: Subscriptions;
  readonly inbox: Inbox;
  readonly publisher: Publisher;
  readonly queues: ReaderWindows;
}

interface Waiting {
  readonly subject: string;
  readonly data: Uint8Array | string | undefined;
  readonly options: PublishOptions;
  readonly onRefused: ((error: unknown) => void) | undefined;
}

export class Publisher {
  readonly #connection: NatsConnection;
  #waiting: Waiting[] = [];

  constructor(connection: NatsConnection) {
    this.#connection = connection;
  }

  /**
   * Publishes at the end of this turn, in the order of the calls. `onRefused` is called when the client rejects the
   * message because the connection is closed or the message is too large.
   */
  publish(
    subject: string,
    data: Uint8Array | string | undefined,
    options: PublishOptions = {},
    onRefused?: (error: unknown) => void,
  ): void {
    if (this.#waiting.push({ subject, data, options, onRefused }) === 1) setImmediate(() => this.send());
  }

  /** Writes pending messages; also called before the connection closes. */
  send(): void {
    const messages = this.#waiting;
    this.#waiting = [];
    for (const { subject, data, options, onRefused } of messages) {
      try {
        this.#connection.publish(subject, data, options);
      } catch (error) {
        onRefused?.(error);
      }
    }
  }

  /** Resolves when the broker has received everything published so far. */
  flush(): Promise<void> {
    this.send();
    return this.#connection.flush();
  }
}
