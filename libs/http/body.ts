/**
 * Reading request bodies as bytes, and JSON from them. Nothing is decoded on the way: what is no UTF-8 is refused instead of mended,
 * and large integers stay whole (docs/adr/request-bodies.md).
 */
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError } from '#libs/errors';
import { maxJsonDepth, NumberExpansionError, parseJson } from '#libs/json';
import { IncomingBody } from './incoming-body.ts';
import { UnparsableBody } from './envelope.ts';
import type { HttpContext } from './exchange.ts';
import { ClientDisconnected, hasBody } from './incoming.ts';
import type { ByteBudget } from './byte-budget.ts';

/** A body that is there. Its bytes count in their room until `leave`. */
export interface BufferedBody {
  /** Undefined when it is over the limit: nothing of it is kept then, and the rest passes by. */
  readonly bytes: Buffer | undefined;
  readonly leave: () => void;
}

/** Largest JSON or hook body in bytes; exactly that passes (rules/http#json-body-cap). */
export const maxBodyBytes = 4_194_304;
const empty = Buffer.alloc(0);
const nothing: BufferedBody = { bytes: empty, leave: () => undefined };
const tooMany: BufferedBody = { ...nothing, bytes: undefined };

const noop = (): Promise<void> => Promise.resolve();

/**
 * The body as it came: the one reader of bodies that are kept in memory.
 * @throws ClientDisconnected at once when the client leaves; AppError request_timeout when it comes too slowly (D62), unavailable when others
 * need its room.
 */
export async function readRawBody(ctx: HttpContext, room: ByteBudget): Promise<BufferedBody> {
  const { req } = ctx;
  if (!hasBody(req)) return nothing;
  if (Number(req.headers['content-length'] ?? 0) > maxBodyBytes) return tooMany;
  if (!req.complete) await nextTurn(); // what comes with its head is parsed behind it in the same turn
  if (req.destroyed) throw new ClientDisconnected();
  if (req.complete) return takeWhole(req, room);
  const { koaBody } = await import('koa-body'); // loads more than two hundred modules; most bodies never need it
  if (req.destroyed) throw new ClientDisconnected();
  const arriving = new IncomingBody(ctx, room);
  const leave = (): void => arriving.leave();
  const request: { body?: Buffer } = {};
  try {
    // koa-body gets the bytes alone: which methods and types may have a body is decided by the route.
    const buffer = koaBody({ text: true, textLimit: maxBodyBytes, encoding: '', json: false, urlencoded: false });
    await buffer({ method: 'POST', is: () => 'text', req: arriving, request } as unknown as Parameters<typeof buffer>[0], noop);
    return { bytes: request.body, leave };
  } catch (error) {
    leave();
    if (isTooLarge(error)) return tooMany;
    throw error;
  } finally {
    arriving.destroy();
  }
}

/** Most bodies come with their heads: they are here already, and nothing of them is waited for, watched or gathered. */
function takeWhole(req: IncomingMessage, room: ByteBudget): BufferedBody {
  const bytes = (req.read() as Buffer | null) ?? empty;
  if (bytes.length > maxBodyBytes) return tooMany;
  return { bytes, leave: room.reserve(bytes.length) };
}

const isTooLarge = (error: unknown): boolean => error instanceof Error && 'status' in error && error.status === 413;

export interface JsonBody {
  readonly value: unknown;
  readonly text: string;
}

/** What a body will take in memory as values, roughly, in bytes; undefined when it is nested too deeply. */
export function estimateJsonBytes(bytes: Uint8Array): number | undefined {
  const values = countValues(bytes, maxJsonDepth);
  return values === undefined ? undefined : 3 * bytes.length + bytesPerValue * values;
}

/** An empty object in a list; most values take less. */
const bytesPerValue = 64;

/**
 * The parsed body with its numbers intact, whatever its Content-Type says.
 * @throws UnparsableBody for an empty body (unless optional: `{}`), invalid UTF-8 or broken JSON; 413 for numbers whose
 * exponents stand for too many digits.
 */
export function parseBody(bytes: Buffer, optional: boolean): JsonBody {
  if (bytes.length === 0 && optional) return { value: {}, text: '{}' };
  if (!isUtf8(bytes)) throw new UnparsableBody();
  const text = bytes.toString('utf8');
  try {
    return { value: parseJson(text), text };
  } catch (error) {
    if (error instanceof NumberExpansionError) throw new AppError({ code: 'payload_too_large', message: error.message });
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
