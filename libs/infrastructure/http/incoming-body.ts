/** A request body while it is received. The time and memory limits for bodies apply to it (D62, D77). */
import { Readable } from 'node:stream';
import { unavailable } from '#libs/infrastructure/errors';
import type { HttpContext } from './exchange.ts';
import { ClientDisconnected, bodyTimeout, enforceBodyPace } from './incoming.ts';
import type { Transfer, ByteBudget } from './byte-budget.ts';

/** Time limit for a body that is buffered as a whole (D62). */
const deadlineMs = 30_000;
/**
 * Chunks are joined to at least this size: a body can arrive as millions of one-byte chunks with an overhead of a
 * hundred bytes each.
 */
const pieceBytes = 16_384;

/**
 * The request body as a stream, with empty headers. Its bytes count in the budget until `release`. The stream fails
 * immediately when the client disconnects (ClientDisconnected), when the client is too slow (request_timeout) and under
 * memory pressure (unavailable).
 */
export class IncomingBody extends Readable {
  /**
   * Empty, so that readers ignore the headers of the request: bodies are not decompressed (D61), and the route decides
   * the content type.
   */
  readonly headers = {};
  readonly #room: ByteBudget;
  readonly #transfer: Transfer;
  readonly #piece = new Piece();
  readonly #settle: () => void;

  /** The request must have a body (`hasBody`) and its connection must be open. */
  constructor(ctx: HttpContext, room: ByteBudget) {
    super({ autoDestroy: false, emitClose: false });
    const { req } = ctx;
    const onData = (chunk: Buffer): void => this.#take(chunk);
    const onEnd = (): void => this.#end();
    const onClose = (): void => void this.destroy(new ClientDisconnected());
    const stopWatching = enforceBodyPace(ctx, (error) => this.destroy(error));
    const timer = setTimeout(() => this.destroy(bodyTimeout(ctx, 'body_too_late')), deadlineMs);
    this.#room = room;
    this.#transfer = {
      since: performance.now(),
      bytes: 0,
      pause: () => req.pause(),
      resume: () => req.resume(),
      evict: () => this.destroy(noRoom(ctx)),
    };
    this.#settle = () => {
      stopWatching();
      clearTimeout(timer);
      req.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose);
      room.finish(this.#transfer);
    };
    room.add(this.#transfer);
    req.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose);
  }

  /** Removes the bytes from the budget. */
  release(): void {
    this.#room.remove(this.#transfer);
  }

  /** Does nothing: received chunks are pushed immediately. */
  override _read(): void {}

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#settle();
    if (error !== null) this.release();
    done(error);
  }

  #take(chunk: Buffer): void {
    const growth = this.#piece.add(chunk);
    if (this.#piece.size >= pieceBytes) this.#handOver();
    if (growth > 0) this.#room.adjust(this.#transfer, growth);
  }

  #end(): void {
    this.#settle();
    if (this.#piece.size > 0) this.#handOver();
    this.push(null);
  }

  #handOver(): void {
    this.push(this.#piece.take());
  }
}

function noRoom({ res, state }: HttpContext): Error {
  state.countRefusal('no_room_for_body');
  res.setHeader('Connection', 'close');
  return unavailable('The service is busy');
}

const empty = Buffer.alloc(0);

/** Joins chunks in a buffer whose size doubles. A single chunk is not copied. */
class Piece {
  size = 0;
  #block: Buffer = empty;

  /** Adds a chunk. @returns the number of bytes by which the allocated memory grew */
  add(chunk: Buffer): number {
    const before = this.#block.length;
    const size = this.size + chunk.length;
    if (this.size === 0) this.#block = chunk;
    else {
      if (size > before) {
        const larger = Buffer.allocUnsafeSlow(Math.max(size, 2 * before));
        this.#block.copy(larger, 0, 0, this.size);
        this.#block = larger;
      }
      chunk.copy(this.#block, this.size);
    }
    this.size = size;
    return this.#block.length - before;
  }

  /** Returns the joined bytes and empties the buffer. */
  take(): Buffer {
    const { size } = this;
    const block = this.#block;
    this.size = 0;
    this.#block = empty;
    return size === block.length ? block : block.subarray(0, size);
  }
}
