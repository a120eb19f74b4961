/**
 * Reads request bodies as bytes and parses JSON from them. Bytes are not decoded first: invalid UTF-8 is rejected
 * instead of replaced, and large integers keep their precision (docs/adr/request-bodies.md).
 */
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError } from '#libs/infrastructure/errors';
import { maxJsonDepth, NumberExpansionError, parseJson } from '#libs/infrastructure/json';
import { IncomingBody } from './incoming-body.ts';
import { UnparsableBody } from './envelope.ts';
import type { HttpContext } from './exchange.ts';
import { ClientDisconnected, hasBody } from './incoming.ts';
import type { ByteBudget } from './byte-budget.ts';

/** A complete body. Its bytes count in the budget until `release`. */
export interface BufferedBody {
  /** Undefined for a body over the limit, which is drained instead of stored. */
  readonly bytes: Buffer | undefined;
  readonly release: () => void;
}

/**
 * Maximum size of a JSON or webhook body in bytes; a body of exactly this size is accepted (rules/http#json-body-cap).
 */
export const maxBodyBytes = 4_194_304;
const empty = Buffer.alloc(0);
const nothing: BufferedBody = { bytes: empty, release: () => undefined };
const tooMany: BufferedBody = { ...nothing, bytes: undefined };

const noop = (): Promise<void> => Promise.resolve();

/**
 * Reads the body as bytes. No other function buffers bodies in memory.
 * @throws ClientDisconnected immediately when the client disconnects; AppError request_timeout when the body is too
 * slow (D62); AppError unavailable under memory pressure
 */
export async function readRawBody(ctx: HttpContext, room: ByteBudget): Promise<BufferedBody> {
  const { req } = ctx;
  if (!hasBody(req)) return nothing;
  if (Number(req.headers['content-length'] ?? 0) > maxBodyBytes) return tooMany;
  if (!req.complete) await nextTurn(); // body data that arrived with the headers is parsed later in the same turn
  if (req.destroyed) throw new ClientDisconnected();
  if (req.complete) return takeWhole(req, room);
  const { koaBody } = await import('koa-body'); // loads more than 200 modules, which most bodies do not need
  if (req.destroyed) throw new ClientDisconnected();
  const arriving = new IncomingBody(ctx, room);
  const release = (): void => arriving.release();
  const request: { body?: Buffer } = {};
  try {
    // koa-body receives only the bytes: the route decides which methods and types may have a body.
    const buffer = koaBody({ text: true, textLimit: maxBodyBytes, encoding: '', json: false, urlencoded: false });
    await buffer(
      { method: 'POST', is: () => 'text', req: arriving, request } as unknown as Parameters<typeof buffer>[0],
      noop,
    );
    return { bytes: request.body, release };
  } catch (error) {
    release();
    if (isTooLarge(error)) return tooMany;
    throw error;
  } finally {
    arriving.destroy();
  }
}

/** Fast path: most bodies arrive with their heads and need no waiting, pace check or buffering. */
function takeWhole(req: IncomingMessage, room: ByteBudget): BufferedBody {
  const bytes = (req.read() as Buffer | null) ?? empty;
  if (bytes.length > maxBodyBytes) return tooMany;
  return { bytes, release: room.reserve(bytes.length) };
}

const isTooLarge = (error: unknown): boolean => error instanceof Error && 'status' in error && error.status === 413;

export interface JsonBody {
  readonly value: unknown;
  readonly text: string;
}

/** Estimates the memory of the parsed body in bytes. Returns undefined when the body is nested too deeply. */
export function estimateJsonBytes(bytes: Uint8Array): number | undefined {
  const values = countValues(bytes, maxJsonDepth);
  return values === undefined ? undefined : 3 * bytes.length + bytesPerValue * values;
}

/** Memory of an empty object in a list; most values need less. */
const bytesPerValue = 64;

/**
 * Parses JSON without losing precision of numbers, regardless of the Content-Type.
 * @throws UnparsableBody for an empty body (unless optional: `{}`), invalid UTF-8 or malformed JSON; 413 for numbers
 * whose exponents expand to too many digits
 */
export function parseBody(bytes: Buffer, optional: boolean): JsonBody {
  if (bytes.length === 0 && optional) return { value: {}, text: '{}' };
  if (!isUtf8(bytes)) throw new UnparsableBody();
  const text = bytes.toString('utf8');
  try {
    return { value: parseJson(text), text };
  } catch (error) {
    if (error instanceof NumberExpansionError)
      throw new AppError({ code: 'payload_too_large', message: error.message });
    throw new UnparsableBody();
  }
}

export function tooLarge(): AppError {
  return new AppError({ code: 'payload_too_large', message: `The request body is larger than ${maxBodyBytes} bytes` });
}

/**
 * Estimates the number of values from commas and brackets; undefined when brackets nest deeper than `maxDepth`. Runs
 * before parsing, so that depth costs no memory.
 */
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
