/**
 * Sends replies. Replies up to 64 KiB are one message; larger ones are numbered chunks of up to 256 KiB, of which at
 * most four are unconsumed. All chunks for one process share a window, which limits the memory of processes and of the
 * broker (architecture#large-messages).
 */
import type { Msg } from '@nats-io/transport-node';
import { type AppError, ReplayedError, toErrorBody, unavailable } from '#libs/infrastructure/errors';
import type { Inbox, InboxListener } from './inbox.ts';
import type { ReaderWindows, WindowSlot } from './reader-windows.ts';
import type { ConnectionParts, Publisher } from './publisher.ts';
import type { ReplyMetadata } from './reply.ts';
import { idleTimeoutMs, streamControl } from './stream-reader.ts';
import { decodeText, encodeReplyMetadata, encodeHeaders, header, isNoResponders, readHeader } from './wire.ts';

/** Maximum size in bytes of a reply that is one message. */
export const singleReplyBytes = 64 * 1024;
/** Maximum size of a chunk of a larger reply, in bytes. */
export const chunkBytes = 256 * 1024;
/** Maximum number of unconsumed chunks. */
export const chunkWindow = 4;
/** Time without consumption after which a stream is aborted, because its reader blocks a database cursor. */
export const stallLimitMs = 60_000;
const pollIntervalMs = 1_000;

/** Reason why a stream ended before its end marker, unless the source failed. */
export class ReaderDisconnected extends Error {
  constructor() {
    super('the reader went away');
    this.name = 'ReaderGone';
  }
}

/**
 * Sends chunks as a reply to `replyTo`. `send` resolves when the end marker is sent.
 * @throws ReaderDisconnected; errors of the source, which can still be sent as an error reply while `started` is false
 */
export class StreamSender implements InboxListener {
  readonly expiresAtMs = Infinity;
  started = false;
  readonly #publisher: Publisher;
  readonly #inbox: Inbox;
  readonly #replyTo: string;
  readonly #token: string;
  readonly #windows: ReaderWindows;
  readonly #awaitedUntilMs: number;
  readonly #onRemoved: () => void;
  #slot: WindowSlot | undefined;
  #sent = 0;
  #taken = 0;
  /** Whether the reader also acknowledges the arrival of chunks. Readers of the previous release do not. */
  #reportsReceipt = false;
  /** Time of the last message from the reader; a connected reader sends a keep-alive every two seconds. */
  #lastMessageAtMs = 0;
  #gone = false;
  #wake: (() => void) | undefined;

  /**
   * @param deadlineMs epoch milliseconds until which the reader waits for the first chunk
   * @param onRemoved called once when the reader disconnects, so that a source waiting for the database can be
   * interrupted
   */
  constructor(
    { publisher, inbox, queues }: ConnectionParts,
    replyTo: string,
    deadlineMs: number,
    onRemoved: () => void,
  ) {
    this.#publisher = publisher;
    this.#inbox = inbox;
    this.#windows = queues;
    this.#replyTo = replyTo;
    this.#awaitedUntilMs = performance.now() + (deadlineMs - Date.now());
    this.#onRemoved = onRemoved;
    this.#token = inbox.add(this);
  }

  /** @param isLive sends each value of the source immediately as a separate chunk */
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
      this.#publisher.publish(this.#replyTo, undefined, {
        headers: encodeHeaders({ [header.chunkEnd]: String(this.#sent) }),
      });
      if (this.#reportsReceipt) await this.#waitUntil(() => this.#slot?.isEmpty !== false);
    } finally {
      this.#slot?.close();
      this.#inbox.remove(this.#token);
    }
  }

  /** Aborts a started stream: the reader's iteration fails with this error. */
  sendFailure(error: unknown): void {
    const body = Buffer.from(JSON.stringify(toErrorBody(error)), 'utf8');
    this.#publisher.publish(this.#replyTo, body, { headers: encodeHeaders({ [header.status]: 'error' }) });
  }

  onMessage(message: Msg): void {
    this.#lastMessageAtMs = performance.now();
    const text = decodeText(message.data);
    if (isNoResponders(message) || text === streamControl.cancel) {
      this.#release();
    } else if (text === streamControl.alive) {
      if (message.reply !== undefined && message.reply !== '') {
        this.#publisher.publish(message.reply, undefined, { headers: encodeHeaders({ [header.chunkAlive]: '1' }) });
      }
    } else {
      this.#taken = Math.max(this.#taken, Number(text) || 0);
      const received = readHeader(message.headers, header.chunkReceived);
      this.#reportsReceipt = received !== undefined;
      this.#slot?.release(Math.max(this.#taken, Number(received) || 0));
      this.#wake?.();
    }
  }

  onExpired(): void {
    this.#release();
  }

  onBroken(): void {
    this.#release();
  }

  #release(): void {
    if (this.#gone) return;
    this.#gone = true;
    this.#wake?.();
    this.#onRemoved();
  }

  async #sendChunk(bytes: Uint8Array, metadata: ReplyMetadata): Promise<void> {
    this.#slot ??= this.#windows.open(this.#replyTo, () => this.#wake?.());
    const slot = this.#slot;
    // The first acknowledgement shows whether the reader acknowledges arrival.
    await this.#waitUntil(
      () => this.#sent - this.#taken < (this.#taken === 0 && !this.#reportsReceipt ? 1 : chunkWindow),
    );
    if (this.#sent === 0 || this.#reportsReceipt) await this.#waitUntil(() => slot.tryAcquire(bytes.length));
    if (!this.started) this.#lastMessageAtMs = performance.now();
    this.#sent++;
    const first = { [header.chunk]: String(this.#sent), ...(this.started ? undefined : encodeReplyMetadata(metadata)) };
    this.started = true;
    this.#publisher.publish(this.#replyTo, bytes, {
      reply: this.#inbox.subject(this.#token),
      headers: encodeHeaders(first),
    });
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
          const isSilent = this.started ? nowMs - this.#lastMessageAtMs > idleTimeoutMs : nowMs > this.#awaitedUntilMs;
          if (isSilent) this.#release();
          else if (nowMs - waitsSinceMs > stallLimitMs) settle(true);
        }, pollIntervalMs);
        this.#wake = () => settle(false);
      });
      this.#wake = undefined;
      if (stalled) throw unavailable('The reader of the reply stalled');
    }
    if (this.#gone) throw new ReaderDisconnected();
  }
}

/** Returns the publish options of a single-message reply. Without metadata there is no header block. */
export function singleReplyOptions(metadata: ReplyMetadata): { headers?: ReturnType<typeof encodeHeaders> } {
  const pairs = encodeReplyMetadata(metadata);
  return pairs === undefined ? {} : { headers: encodeHeaders(pairs) };
}

/** Sends an error reply. */
export function sendError(publisher: Publisher, replyTo: string, error: AppError): void {
  publisher.publish(replyTo, Buffer.from(JSON.stringify(error.toBody()), 'utf8'), {
    headers: encodeHeaders({
      [header.status]: 'error',
      ...encodeReplyMetadata({ replayed: error instanceof ReplayedError }),
    }),
  });
}
