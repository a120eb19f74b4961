/**
 * Reads a chunked reply. Each chunk is acknowledged twice: on arrival, which frees the window of this process, and when
 * it is consumed, which lets the responder send another chunk. While waiting, the reader sends keep-alives; the broker
 * replies to them when the responder has disconnected. A gap, an error marker, a silent responder or a lost connection
 * ends the iteration with an error. Only an end marker with the right count completes it.
 */
import type { Msg, MsgHdrs } from '@nats-io/transport-node';
import { type AppError, unavailable } from '#libs/infrastructure/errors';
import type { Inbox, InboxListener } from './inbox.ts';
import type { Publisher } from './publisher.ts';
import { encodeHeaders, header, isNoResponders, parseErrorBody, readHeader } from './wire.ts';

/** Control messages from the reader. A number instead of these words is the last consumed chunk. */
export const streamControl = { cancel: 'cancel', alive: 'alive' } as const;

/** Interval of keep-alives. */
export const keepAliveIntervalMs = 2_000;
/** Time without a message after which the reader or the responder counts as disconnected. */
export const idleTimeoutMs = 10_000;

export class StreamReader implements InboxListener, AsyncIterableIterator<Uint8Array> {
  readonly expiresAtMs = Infinity;
  readonly #publisher: Publisher;
  readonly #inbox: Inbox;
  readonly #token: string;
  readonly #controlSubject: string;
  readonly #queue: Uint8Array[] = [];
  readonly #timer: NodeJS.Timeout;
  #received = 0;
  #taken = 0;
  #lastMessageAtMs = performance.now();
  #state: 'open' | 'complete' | 'failed' | 'left' = 'open';
  #failure: AppError | undefined;
  #waiting: { resolve(result: IteratorResult<Uint8Array>): void; reject(error: Error): void } | undefined;

  /** @param first the message with chunk 1, to whose reply subject acknowledgements are sent */
  constructor(publisher: Publisher, inbox: Inbox, token: string, first: Msg) {
    this.#publisher = publisher;
    this.#inbox = inbox;
    this.#token = token;
    this.#controlSubject = first.reply ?? '';
    this.#timer = setInterval(() => this.#checkAlive(), keepAliveIntervalMs);
    inbox.replace(token, this);
    this.onMessage(first);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<Uint8Array>> {
    const chunk = this.#queue.shift();
    if (chunk !== undefined) {
      this.#taken++;
      this.#acknowledge();
      return Promise.resolve({ value: chunk, done: false });
    }
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    if (this.#state !== 'open') return Promise.resolve({ value: undefined, done: true });
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
    });
  }

  /** Cancels the stream; the responder then stops the source. */
  return(): Promise<IteratorResult<Uint8Array>> {
    if (this.#state === 'open') {
      this.#close('left');
      this.#send(streamControl.cancel);
    }
    this.#queue.length = 0;
    this.#waiting?.resolve({ value: undefined, done: true });
    this.#waiting = undefined;
    return Promise.resolve({ value: undefined, done: true });
  }

  onMessage(message: Msg): void {
    this.#lastMessageAtMs = performance.now();
    if (isNoResponders(message)) {
      this.#fail(unavailable('The service went away in the middle of its reply'));
      return;
    }
    const headers = message.headers;
    if (readHeader(headers, header.status) !== undefined) {
      this.#fail(parseErrorBody(message.data));
      return;
    }
    const end = readHeader(headers, header.chunkEnd);
    if (end !== undefined) {
      if (Number(end) === this.#received) this.#complete();
      else this.#fail(unavailable('A part of the reply was lost'));
      return;
    }
    const number = readHeader(headers, header.chunk);
    if (number === undefined) return;
    if (Number(number) !== this.#received + 1) {
      this.#fail(unavailable('A part of the reply was lost'));
      return;
    }
    this.#received++;
    if (this.#waiting === undefined) {
      this.#queue.push(message.data);
      this.#acknowledge();
      return;
    }
    const waiting = this.#waiting;
    this.#waiting = undefined;
    this.#taken++;
    this.#acknowledge();
    waiting.resolve({ value: message.data, done: false });
  }

  onExpired(): void {
    this.#fail(unavailable('The reply stopped'));
  }

  onBroken(error: AppError): void {
    this.#fail(error);
  }

  #acknowledge(): void {
    if (this.#state !== 'open') return;
    this.#send(String(this.#taken), { headers: encodeHeaders({ [header.chunkReceived]: String(this.#received) }) });
  }

  #send(text: string, options?: { headers: MsgHdrs }): void {
    try {
      this.#publisher.publish(this.#controlSubject, text, { reply: this.#inbox.subject(this.#token), ...options });
    } catch {
      this.#fail(unavailable('The message broker is not reachable'));
    }
  }

  #checkAlive(): void {
    if (performance.now() - this.#lastMessageAtMs > idleTimeoutMs) {
      this.#fail(unavailable('The service went silent in the middle of its reply'));
      this.#send(streamControl.cancel);
    } else {
      this.#send(streamControl.alive);
    }
  }

  #complete(): void {
    this.#close('complete');
    this.#waiting?.resolve({ value: undefined, done: true });
    this.#waiting = undefined;
  }

  #fail(error: AppError): void {
    if (this.#state !== 'open') return;
    this.#close('failed');
    this.#failure = error;
    this.#queue.length = 0;
    this.#waiting?.reject(error);
    this.#waiting = undefined;
  }

  #close(state: 'complete' | 'failed' | 'left'): void {
    this.#state = state;
    clearInterval(this.#timer);
    this.#inbox.remove(this.#token);
  }
}
