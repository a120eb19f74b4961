/**
 * The one inbox of a connection: replies of calls and control messages of streams come here, told apart by the last token
 * of the subject. One subscription, one map, one coarse timer, whatever the number of calls in flight.
 */
import type { Msg, NatsConnection } from '@nats-io/transport-node';
import type { AppError } from '#libs/errors';
import { randomToken } from './token.ts';

/** Whoever waits for messages on a token. */
export interface InboxListener {
  /** Epoch milliseconds; Infinity = never. */
  readonly expiresAtMs: number;
  onMessage(message: Msg): void;
  /** Called once, after the listener was removed. */
  onExpired(): void;
  /** The connection broke or closes; called once, after the listener was removed. */
  onBroken(error: AppError): void;
}

/** Precision of deadlines. */
const sweepIntervalMs = 25;

export class Inbox {
  readonly #connection: NatsConnection;
  readonly #prefix: string;
  readonly #listeners = new Map<string, InboxListener>();
  #sweeper: NodeJS.Timeout | undefined;

  /** `onStray` gets messages of tokens that nobody holds any more. */
  constructor(connection: NatsConnection, inboxPrefix: string, onStray: (message: Msg) => void) {
    this.#connection = connection;
    this.#prefix = `${inboxPrefix}.${randomToken()}.`;
    this.#connection.subscribe(`${this.#prefix}*`, {
      callback: (error, message) => {
        if (error !== null) return;
        const listener = this.#listeners.get(message.subject.slice(this.#prefix.length));
        if (listener === undefined) onStray(message);
        else listener.onMessage(message);
      },
    });
  }

  get size(): number {
    return this.#listeners.size;
  }

  /** Registers a listener and returns its token. */
  add(listener: InboxListener): string {
    const token = randomToken();
    this.#listeners.set(token, listener);
    this.#sweeper ??= setInterval(() => this.#sweep(), sweepIntervalMs);
    return token;
  }

  /** Hands a token to another listener, e.g. from a call to the stream that answers it. */
  replace(token: string, listener: InboxListener): void {
    this.#listeners.set(token, listener);
  }

  remove(token: string): boolean {
    return this.#listeners.delete(token);
  }

  subject(token: string): string {
    return this.#prefix + token;
  }

  /** Ends every wait, e.g. when the connection is lost: an answer that was under way will not come. */
  breakAll(error: AppError): void {
    const listeners = [...this.#listeners.values()];
    this.#listeners.clear();
    for (const listener of listeners) listener.onBroken(error);
  }

  stop(): void {
    clearInterval(this.#sweeper);
    this.#sweeper = undefined;
  }

  #sweep(): void {
    if (this.#listeners.size === 0) {
      this.stop();
      return;
    }
    const now = Date.now();
    for (const [token, listener] of this.#listeners) {
      if (listener.expiresAtMs > now) continue;
      this.#listeners.delete(token);
      listener.onExpired();
    }
  }
}
