/**
 * The single inbox of a connection, for replies to calls and for control messages of streams. The last token of the
 * subject identifies the listener. One subscription, one table and one coarse timer serve all calls in flight.
 */
import type { Msg } from '@nats-io/transport-node';
import type { AppError } from '#libs/infrastructure/errors';
import { Slab } from '#libs/infrastructure/concurrency';
import type { Subscriptions } from './subscriptions.ts';
import { randomToken, tokenLength } from './token.ts';

/** Receives the messages of one token. */
export interface InboxListener {
  /** Epoch milliseconds; Infinity = never. */
  readonly expiresAtMs: number;
  onMessage(message: Msg): void;
  /** Called once when the listener has expired, after its removal. */
  onExpired(): void;
  /** Called once when the connection breaks or closes, after the listener was removed. */
  onBroken(error: AppError): void;
}

interface Entry {
  readonly token: string;
  listener: InboxListener;
}

/** Interval of the expiry check, i.e. the precision of deadlines, in milliseconds. */
const sweepIntervalMs = 25;

export class Inbox {
  readonly #prefix: string;
  readonly #entries = new Slab<Entry>();
  #sweeper: NodeJS.Timeout | undefined;

  /** `onStray` receives messages of tokens without a listener. */
  constructor(subscriptions: Subscriptions, inboxPrefix: string, onStray: (message: Msg) => void) {
    this.#prefix = `${inboxPrefix}.${randomToken()}.`;
    subscriptions.subscribe(`${this.#prefix}*`, {
      callback: (message) => {
        const entry = this.#find(message.subject.slice(this.#prefix.length));
        if (entry === undefined) onStray(message);
        else entry.listener.onMessage(message);
      },
    });
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Registers a listener. Returns its token, which ends with the index of the listener in the slab. */
  add(listener: InboxListener): string {
    const secret = randomToken();
    const token = secret + String(this.#entries.nextIndex);
    this.#entries.add({ token, listener });
    this.#sweeper ??= setInterval(() => this.#sweep(), sweepIntervalMs);
    return token;
  }

  /** Assigns a token to another listener, e.g. when the reply to a call is a stream. */
  replace(token: string, listener: InboxListener): void {
    const entry = this.#find(token);
    if (entry !== undefined) entry.listener = listener;
  }

  /** Removes a listener. @returns whether it was registered */
  remove(token: string): boolean {
    const isThere = this.#find(token) !== undefined;
    if (isThere) this.#entries.remove(slotOf(token));
    return isThere;
  }

  subject(token: string): string {
    return this.#prefix + token;
  }

  /** Ends all waits, e.g. after a lost connection: pending replies cannot arrive. */
  breakAll(error: AppError): void {
    const entries = [...this.#entries];
    for (const { token } of entries) this.#entries.remove(slotOf(token));
    for (const { listener } of entries) listener.onBroken(error);
  }

  stop(): void {
    clearInterval(this.#sweeper);
    this.#sweeper = undefined;
  }

  #sweep(): void {
    if (this.#entries.size === 0) {
      this.stop();
      return;
    }
    const now = Date.now();
    for (const { token, listener } of this.#entries) {
      if (listener.expiresAtMs > now) continue;
      this.#entries.remove(slotOf(token));
      listener.onExpired();
    }
  }

  #find(token: string): Entry | undefined {
    const entry = this.#entries.get(slotOf(token));
    return entry?.token === token ? entry : undefined;
  }
}

const slotOf = (token: string): number => Number(token.slice(tokenLength));
