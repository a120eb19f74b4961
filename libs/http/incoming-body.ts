/** A request body on its way from the client to its reader, within the limits of all bodies (D62, D77). */
import { Readable } from 'node:stream';
import { unavailable } from '#libs/errors';
import type { HttpContext } from './exchange.ts';
import { ClientDisconnected, bodyTimeout, enforceBodyPace } from './incoming.ts';
import type { Transfer, ByteBudget } from './byte-budget.ts';

/** Time to send a body that is read as a whole (D62). */
const deadlineMs = 30_000;
/** A body may come as millions of chunks of a byte, each of which costs a hundred by itself; the reader gets pieces of this size or more. */
const pieceBytes = 16_384;

/**
 * The body of a request as its reader sees it: bytes without the headers that say how to take them. Its bytes count in their room until
 * `leave`. It fails, with what the client is to be answered, at once when the client leaves (ClientDisconnected), when it comes too slowly
 * (request_timeout) and when others need its room (unavailable).
 */
export class IncomingBody extends Readable {
  /** Empty, so that no reader acts on them: nothing is unpacked (D61), and the route decides the type. */
  readonly headers = {};
  readonly #room: ByteBudget;
  readonly #guest: Transfer;
  readonly #piece = new Piece();
  readonly #settle: () => void;

  /** The body of `ctx` must be one that may come (`hasBody`), and its connection open. */
  constructor(ctx: HttpContext, room: ByteBudget) {
    super({ autoDestroy: false, emitClose: false });
    const { req } = ctx;
    const onData = (chunk: Buffer): void => this.#take(chunk);
    const onEnd = (): void => this.#end();
    const onClose = (): void => void this.destroy(new ClientDisconnected());
    const stopWatching = enforceBodyPace(ctx, (error) => this.destroy(error));
    const timer = setTimeout(() => this.destroy(bodyTimeout(ctx, 'body_too_late')), deadlineMs);
    this.#room = room;
    this.#guest = {
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
      room.finish(this.#guest);
    };
    room.add(this.#guest);
    req.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose);
  }

  /** What was read is not needed any more. */
  leave(): void {
    this.#room.remove(this.#guest);
  }

  /** What comes is handed over as it comes. */
  override _read(): void {}

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#settle();
    if (error !== null) this.leave();
    done(error);
  }

  #take(chunk: Buffer): void {
    const grown = this.#piece.add(chunk);
    if (this.#piece.size >= pieceBytes) this.#handOver();
    if (grown > 0) this.#room.adjust(this.#guest, grown);
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

/** Chunks laid together, in memory that doubles; one chunk stays as it is. */
class Piece {
  size = 0;
  #block: Buffer = empty;

  /** @returns bytes of memory taken by it. */
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

  /** Its bytes; it is empty again. */
  take(): Buffer {
    const { size } = this;
    const block = this.#block;
    this.size = 0;
    this.#block = empty;
    return size === block.length ? block : block.subarray(0, size);
  }
}
