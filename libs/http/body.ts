/**
 * Reading request bodies as bytes, and JSON from them. Nothing is decoded on the way: what is no UTF-8 is refused instead of mended,
 * and large integers stay whole (docs/adr: JSON bodies).
 */
import { isUtf8 } from 'node:buffer';
import { AppError, unavailable } from '#libs/errors';
import { maxJsonDepth, parseJson } from '#libs/json';
import { UnparsableBody } from './envelope.ts';
import type { HttpContext } from './exchange.ts';
import { ClientGone, hasBody, lateBody, watchBody } from './incoming.ts';
import type { Guest, Room } from './room.ts';

/** Largest JSON or hook body in bytes; exactly that passes (spec 03 §1). */
export const maxBodyBytes = 4_194_304;
/** Time to send such a body (D62). */
const bodyDeadlineMs = 30_000;

/** A body that is there. Its bytes count in their room until `leave`. */
export interface ReceivedBody {
  /** Undefined when it is over the limit: nothing of it is kept then, and the rest passes by. */
  readonly bytes: Buffer | undefined;
  readonly leave: () => void;
}

const nothing: ReceivedBody = { bytes: Buffer.alloc(0), leave: () => undefined };

/**
 * The body as it came.
 * @throws ClientGone at once when the client leaves; AppError request_timeout when it comes too slowly (D62), unavailable when others
 * need its room.
 */
export function readRawBody(ctx: HttpContext, room: Room, maxBytes = maxBodyBytes): Promise<ReceivedBody> {
  const { req } = ctx;
  if (!hasBody(req)) return Promise.resolve(nothing);
  if (req.destroyed) return Promise.reject(new ClientGone());
  if (Number(req.headers['content-length'] ?? 0) > maxBytes) return Promise.resolve({ ...nothing, bytes: undefined });
  return new Promise((resolve, reject) => {
    const gathered = new GatheredBytes();
    const leave = (): void => room.leave(guest);
    const settle = (): void => {
      stopWatching();
      clearTimeout(timer);
      req.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose);
      room.settle(guest);
    };
    const give = (bytes: Buffer | undefined): void => {
      settle();
      resolve({ bytes, leave });
    };
    const fail = (error: Error): void => {
      settle();
      leave();
      req.resume();
      reject(error);
    };
    const guest: Guest = {
      since: performance.now(),
      bytes: 0,
      pause: () => req.pause(),
      resume: () => req.resume(),
      evict: () => fail(noRoom(ctx)),
    };
    const onData = (chunk: Buffer): void => {
      const grown = gathered.add(chunk);
      if (gathered.size > maxBytes) {
        leave();
        give(undefined);
      } else if (grown > 0) room.change(guest, grown);
    };
    const onEnd = (): void => give(gathered.bytes);
    const onClose = (): void => fail(new ClientGone());
    const stopWatching = watchBody(ctx, fail);
    const timer = setTimeout(() => fail(lateBody(ctx, 'body_too_late')), bodyDeadlineMs);
    room.enter(guest);
    req.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose);
  });
}

function noRoom({ res, state }: HttpContext): AppError {
  state.refused('no_room_for_body');
  res.setHeader('Connection', 'close');
  return unavailable('The service is busy');
}

/** Chunks in one piece that doubles: a body may come as millions of chunks of one byte, each of which costs a hundred by itself. */
class GatheredBytes {
  size = 0;
  #block: Buffer = Buffer.alloc(0);

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

  get bytes(): Buffer {
    return this.#block.subarray(0, this.size);
  }
}

export interface JsonBody {
  readonly value: unknown;
  readonly text: string;
}

/** What a body will take in memory as values, roughly, in bytes; undefined when it is nested too deeply. */
export function weighJson(bytes: Uint8Array): number | undefined {
  const values = countValues(bytes, maxJsonDepth);
  return values === undefined ? undefined : 3 * bytes.length + bytesPerValue * values;
}

/** An empty object in a list; most values take less. */
const bytesPerValue = 64;

/**
 * The parsed body with its numbers intact, whatever its Content-Type says.
 * @throws UnparsableBody for an empty body (unless optional: `{}`), invalid UTF-8 or broken JSON.
 */
export function parseBody(bytes: Buffer, optional: boolean): JsonBody {
  if (bytes.length === 0 && optional) return { value: {}, text: '{}' };
  if (!isUtf8(bytes)) throw new UnparsableBody();
  const text = bytes.toString('utf8');
  try {
    return { value: parseJson(text), text };
  } catch {
    throw new UnparsableBody();
  }
}

export function tooLarge(): AppError {
  return new AppError({ code: 'payload_too_large', message: `The request body is larger than ${maxBodyBytes} bytes` });
}

/** Values of a document, as many as it has commas and brackets; undefined when its brackets nest deeper than `maxDepth`. Looked at before parsing, so that depth costs no memory. */
export function countValues(bytes: Uint8Array, maxDepth: number): number | undefined {
  let depth = 0;
  let values = 1;
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index];
    if (byte === 0x22) {
      for (index++; index < bytes.length && bytes[index] !== 0x22; index++) if (bytes[index] === 0x5c) index++;
    } else if (byte === 0x2c) values++;
    else if (byte === 0x7b || byte === 0x5b) {
      values++;
      if (++depth > maxDepth) return undefined;
    } else if (byte === 0x7d || byte === 0x5d) depth--;
  }
  return values;
}
