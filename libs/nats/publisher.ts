/**
 * Gathers what one turn of the event loop publishes into one write. Under load a turn serves many requests, and the system calls and the broker's
 * wake-ups would cost more than most of the work between them (docs/performance-notes.md#batching-per-event-loop-turn).
 */
import type { NatsConnection, PublishOptions } from '@nats-io/transport-node';
import type { Inbox } from './inbox.ts';
import type { ReaderWindows } from './reader-windows.ts';
import type { Subscriptions } from './subscriptions.ts';

/** What the parts of the bus share. */
export interface ConnectionParts {
  readonly connection: NatsConnection;
  readonly subscriptions: Subscriptions;
  readonly inbox: Inbox;
  readonly publisher: Publisher;
  readonly lanes: ReaderWindows;
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

  /** Sends at the end of this turn, in order. `onRefused` hears that the client did not take it: closed, or the message is too large. */
  publish(
    subject: string,
    data: Uint8Array | string | undefined,
    options: PublishOptions = {},
    onRefused?: (error: unknown) => void,
  ): void {
    if (this.#waiting.push({ subject, data, options, onRefused }) === 1) setImmediate(() => this.send());
  }

  /** Sends now what waits; before the connection ends. */
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

  /** Resolves when the broker has taken everything published until now. */
  flush(): Promise<void> {
    this.send();
    return this.#connection.flush();
  }
}
