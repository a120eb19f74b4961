/**
 * Sender of replies. Up to 64 KiB a reply is one message; above that it is numbered chunks of up to 256 KiB, at most four of them not yet
 * taken, and all that are on the way to one process have a lane, so that the memory of every process and of the broker is bounded,
 * whatever the size and the number (architecture#large-messages).
 */
import type { Msg } from '@nats-io/transport-node';
import { type AppError, ReplayedError, toErrorBody, unavailable } from '#libs/errors';
import type { Inbox, InboxListener } from './inbox.ts';
import type { ReaderWindows, WindowSlot } from './reader-windows.ts';
import type { ConnectionParts, Publisher } from './publisher.ts';
import type { ReplyMetadata } from './reply.ts';
import { idleTimeoutMs, streamControl } from './stream-reader.ts';
import { decodeText, encodeReplyMetadata, encodeHeaders, header, isNoResponders, readHeader } from './wire.ts';

/** Replies up to this many bytes travel as one message. */
export const singleReplyBytes = 64 * 1024;
/** Size of a chunk of larger ones. */
export const chunkBytes = 256 * 1024;
/** Chunks that the reader has not taken yet. */
export const chunkWindow = 4;
/** A reader that takes nothing for so long holds a database cursor for nothing; its stream is broken. */
export const stallLimitMs = 60_000;
const lookIntervalMs = 1_000;

/** Why a stream ended before its end mark, when the reason is not a fault of the source. */
export class ReaderDisconnected extends Error {
  constructor() {
    super('the reader went away');
    this.name = 'ReaderGone';
  }
}

/**
 * Sends pieces as a reply to `replyTo`; resolves when the end mark is sent.
 * @throws ReaderGone; whatever the source throws (before the first chunk: nothing was sent yet, `started` is false).
 */
export class StreamSender implements InboxListener {
  readonly expiresAtMs = Infinity;
  started = false;
  readonly #publisher: Publisher;
  readonly #inbox: Inbox;
  readonly #replyTo: string;
  readonly #token: string;
  readonly #lanes: ReaderWindows;
  readonly #awaitedUntilMs: number;
  readonly #onGone: () => void;
  #place: WindowSlot | undefined;
  #sent = 0;
  #taken = 0;
  /** What has come, not only what it has taken; a reader of the release before does not. */
  #tellsReceipt = false;
  /** A reader that is there says so every two seconds, whether it takes anything or not. */
  #heardAtMs = 0;
  #gone = false;
  #wake: (() => void) | undefined;

  /**
   * @param deadlineMs epoch milliseconds; until then the reader waits for the first chunk.
   * @param onGone runs once when the reader leaves, so that a source that waits for its database can be interrupted.
   */
  constructor({ publisher, inbox, lanes }: ConnectionParts, replyTo: string, deadlineMs: number, onGone: () => void) {
    this.#publisher = publisher;
    this.#inbox = inbox;
    this.#lanes = lanes;
    this.#replyTo = replyTo;
    this.#awaitedUntilMs = performance.now() + (deadlineMs - Date.now());
    this.#onGone = onGone;
    this.#token = inbox.add(this);
  }

  /** `isLive`: every piece leaves at once, in chunks of its own. */
  async send(source: AsyncIterable<string | Uint8Array>, metadata: ReplyMetadata, isLive = false): Promise<void> {
    try {
      let pieces: Uint8Array[] = [];
      let size = 0;
      for await (const piece of source) {
        if (this.#gone) throw new ReaderDisconnected();
        const bytes = typeof piece === 'string' ? Buffer.from(piece, 'utf8') : piece;
        pieces.push(bytes);
        size += bytes.length;
        if (!isLive && size < chunkBytes) continue;
        const joined = pieces.length === 1 ? bytes : Buffer.concat(pieces, size);
        const leastBytes = isLive ? 1 : chunkBytes;
        let offset = 0;
        for (; size - offset >= leastBytes; offset += chunkBytes)
          await this.#sendChunk(joined.subarray(offset, offset + chunkBytes), metadata);
        size = Math.max(0, size - offset);
        pieces = size === 0 ? [] : [joined.subarray(offset)];
      }
      const rest = pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces, size);
      if (!this.started && size <= singleReplyBytes) {
        this.#publisher.publish(this.#replyTo, rest, singleReplyOptions(metadata));
        return;
      }
      if (size > 0) await this.#sendChunk(rest, metadata);
      this.#publisher.publish(this.#replyTo, undefined, { headers: encodeHeaders({ [header.chunkEnd]: String(this.#sent) }) });
      if (this.#tellsReceipt) await this.#waitUntil(() => this.#place?.isEmpty !== false);
    } finally {
      this.#place?.close();
      this.#inbox.remove(this.#token);
    }
  }

  /** Breaks a stream that has begun: the reader's iteration ends with this error. */
  sendFailure(error: unknown): void {
    const body = Buffer.from(JSON.stringify(toErrorBody(error)), 'utf8');
    this.#publisher.publish(this.#replyTo, body, { headers: encodeHeaders({ [header.status]: 'error' }) });
  }

  onMessage(message: Msg): void {
    this.#heardAtMs = performance.now();
    const text = decodeText(message.data);
    if (isNoResponders(message) || text === streamControl.cancel) {
      this.#leave();
    } else if (text === streamControl.alive) {
      if (message.reply !== undefined && message.reply !== '') {
        this.#publisher.publish(message.reply, undefined, { headers: encodeHeaders({ [header.chunkAlive]: '1' }) });
      }
    } else {
      this.#taken = Math.max(this.#taken, Number(text) || 0);
      const received = readHeader(message.headers, header.chunkReceived);
      this.#tellsReceipt = received !== undefined;
      this.#place?.release(Math.max(this.#taken, Number(received) || 0));
      this.#wake?.();
    }
  }

  onExpired(): void {
    this.#leave();
  }

  onBroken(): void {
    this.#leave();
  }

  #leave(): void {
    if (this.#gone) return;
    this.#gone = true;
    this.#wake?.();
    this.#onGone();
  }

  async #sendChunk(bytes: Uint8Array, metadata: ReplyMetadata): Promise<void> {
    this.#place ??= this.#lanes.open(this.#replyTo, () => this.#wake?.());
    const place = this.#place;
    // What the reader is, and that it takes anything, shows with the first.
    await this.#waitUntil(() => this.#sent - this.#taken < (this.#taken === 0 && !this.#tellsReceipt ? 1 : chunkWindow));
    if (this.#sent === 0 || this.#tellsReceipt) await this.#waitUntil(() => place.tryAcquire(bytes.length));
    if (!this.started) this.#heardAtMs = performance.now();
    this.#sent++;
    const first = { [header.chunk]: String(this.#sent), ...(this.started ? undefined : encodeReplyMetadata(metadata)) };
    this.started = true;
    this.#publisher.publish(this.#replyTo, bytes, { reply: this.#inbox.subject(this.#token), headers: encodeHeaders(first) });
  }

  async #waitUntil(isOpen: () => boolean): Promise<void> {
    while (!this.#gone && !isOpen()) {
      const waitsSinceMs = performance.now();
      const stalled = await new Promise<boolean>((resolve) => {
        const settle = (value: boolean): void => {
          clearInterval(timer);
          resolve(value);
        };
        const timer = setInterval(() => {
          const nowMs = performance.now();
          const isSilent = this.started ? nowMs - this.#heardAtMs > idleTimeoutMs : nowMs > this.#awaitedUntilMs;
          if (isSilent) this.#leave();
          else if (nowMs - waitsSinceMs > stallLimitMs) settle(true);
        }, lookIntervalMs);
        this.#wake = () => settle(false);
      });
      this.#wake = undefined;
      if (stalled) throw unavailable('The reader of the reply stalled');
    }
    if (this.#gone) throw new ReaderDisconnected();
  }
}

/** Publish options of a reply in one message; none at all (no header block) in the usual case. */
export function singleReplyOptions(metadata: ReplyMetadata): { headers?: ReturnType<typeof encodeHeaders> } {
  const pairs = encodeReplyMetadata(metadata);
  return pairs === undefined ? {} : { headers: encodeHeaders(pairs) };
}

/** An error reply. */
export function sendError(publisher: Publisher, replyTo: string, error: AppError): void {
  publisher.publish(replyTo, Buffer.from(JSON.stringify(error.toBody()), 'utf8'), {
    headers: encodeHeaders({ [header.status]: 'error', ...encodeReplyMetadata({ replayed: error instanceof ReplayedError }) }),
  });
}
