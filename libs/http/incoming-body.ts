/** A request body while it is received, within the limits of all bodies (D62, D77). */
import { Readable } from 'node:stream';
import { unavailable } from '#libs/errors';
import type { HttpContext } from './exchange.ts';
import { ClientDisconnected, bodyTimeout, enforceBodyPace } from './incoming.ts';
import type { Transfer, ByteBudget } from './byte-budget.ts';

/** Time limit for a body that is buffered as a whole (D62). */
const deadlineMs = 30_000;
/**
 * A body can arrive as millions of one-byte chunks with a hundred bytes of overhead each; chunks are joined to at least
 * this size.
 */
const pieceBytes = 16_384;

/**
 * The request body as a stream without the headers that describe it. Its bytes count in the budget until `leave`. It
 * fails immediately when the client disconnects (ClientDisconnected), when it is too slow (request_timeout) and under
 * memory pressure (unavailable).
 */
export class IncomingBody extends Readable {
  /** Empty, so that no reader acts on them: nothing is decompressed (D61), and the route decides the type. */
  readonly headers = {};
  readonly #room: ByteBudget;
  readonly #transfer: Transfer;
  readonly #piece = new Piece();
  readonly #settle: () => void;

  /** The request must have a body (`hasBody`) and an open connection. */
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

  /** Releases the bytes from the budget. */
  release(): void {
    this.#room.remove(this.#transfer);
  }

  /** Passes chunks on without joining them. */
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

/** Joins chunks in a buffer that doubles; a single chunk is not copied. */
class Piece {
  size = 0;
  #block: Buffer = empty;

  /** @returns allocated bytes */
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

  /** Returns its bytes and empties it. */
  take(): Buffer {
    const { size } = this;
    const block = this.#block;
    this.size = 0;
    this.#block = empty;
    return size === block.length ? block : block.subarray(0, size);
  }
}
