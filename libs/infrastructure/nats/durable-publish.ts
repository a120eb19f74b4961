/**
 * Durable publishing with replies to the inbox of the bus. A lost connection ends the wait immediately, and a message
 * allocates only one header block.
 */
import type { Msg } from '@nats-io/transport-node';
import { unavailable } from '#libs/infrastructure/errors';
import { isJsonObject } from '#libs/infrastructure/json';
import type { Inbox, InboxListener } from './inbox.ts';
import type { ConnectionParts } from './publisher.ts';
import { connectionLost, decodeText, encodeHeaders, isNoResponders } from './wire.ts';

export interface PublishDurableOptions {
  /** `Nats-Msg-Id`: the broker drops messages with the same id within two minutes. */
  readonly msgId: string;
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined;
  /** Time limit for the acknowledgement in milliseconds, default 5 000. */
  readonly timeoutMs?: number | undefined;
}

/** Reply of the broker: the message is stored, is a duplicate, or matches no stream. */
export type PublishResult = { readonly kind: 'stored'; readonly duplicate: boolean } | { readonly kind: 'no-stream' };

class PendingStore implements InboxListener {
  readonly expiresAtMs: number;
  token = '';
  readonly #inbox: Inbox;
  readonly #resolve: (answer: PublishResult) => void;
  readonly #reject: (error: Error) => void;

  constructor(
    inbox: Inbox,
    expiresAtMs: number,
    resolve: (answer: PublishResult) => void,
    reject: (error: Error) => void,
  ) {
    this.#inbox = inbox;
    this.expiresAtMs = expiresAtMs;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  onMessage(message: Msg): void {
    this.#inbox.remove(this.token);
    if (isNoResponders(message)) this.#resolve({ kind: 'no-stream' });
    else this.#readAnswer(decodeText(message.data));
  }

  onExpired(): void {
    this.#reject(unavailable('The message broker did not confirm the message in time'));
  }

  onBroken(error: Error): void {
    this.#reject(error);
  }

  #readAnswer(text: string): void {
    let answer: unknown;
    try {
      answer = JSON.parse(text);
    } catch {
      answer = undefined;
    }
    if (isJsonObject(answer) && typeof answer['stream'] === 'string' && answer['error'] === undefined) {
      this.#resolve({ kind: 'stored', duplicate: answer['duplicate'] === true });
    } else {
      const reason = isFull(answer) ? 'its stream is full' : 'it says why in the cause';
      this.#reject(
        unavailable(`The message broker refused the message: ${reason}`, { cause: new Error(text.slice(0, 500)) }),
      );
    }
  }
}

/** Error code for a full stream. The stream accepts messages again after some are consumed. */
const maxBytesExceeded = 10077;

function isFull(answer: unknown): boolean {
  const error = isJsonObject(answer) ? answer['error'] : undefined;
  return isJsonObject(error) && error['err_code'] === maxBytesExceeded;
}

/**
 * Publishes on a complete subject, including the prefix, and waits for the acknowledgement. @throws AppError
 * unavailable
 */
export function publishAndConfirm(
  parties: Pick<ConnectionParts, 'inbox' | 'publisher'>,
  subject: string,
  bytes: Uint8Array | string,
  options: PublishDurableOptions,
): Promise<PublishResult> {
  return new Promise((resolve, reject) => {
    const pending = new PendingStore(parties.inbox, Date.now() + (options.timeoutMs ?? 5_000), resolve, reject);
    pending.token = parties.inbox.add(pending);
    const message = {
      reply: parties.inbox.subject(pending.token),
      headers: encodeHeaders({ 'Nats-Msg-Id': options.msgId, ...options.headers }),
    };
    parties.publisher.publish(subject, bytes, message, (error) => {
      parties.inbox.remove(pending.token);
      const tooLarge = error instanceof Error && error.message.includes('max_payload');
      reject(tooLarge ? unavailable('The message is too large for the broker') : connectionLost());
    });
  });
}
