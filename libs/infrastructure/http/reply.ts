/**
 * Sends replies of operations: bytes unchanged, streams with back-pressure, and ETags where the route declares them.
 */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { RouteInput } from '#libs/infrastructure/contract';
import { entityTag, matchesEntityTag } from '#libs/infrastructure/etag';
import { isJsonObject } from '#libs/infrastructure/json';
import type { RawReply } from '#libs/infrastructure/nats';
import type { HttpContext } from './exchange.ts';
import { enforceResponsePace } from './outgoing.ts';

export interface ReplyShape {
  readonly status: number;
  readonly contentType: string;
  /** True: sends a strong ETag and evaluates If-None-Match. */
  readonly etag: boolean;
}

/** Merges body, query and path fields. Path fields win, so that a body cannot name another object. */
export const mergeFields = ({ body, query, params }: RouteInput): unknown => ({
  ...(isJsonObject(body) ? body : undefined),
  ...query,
  ...params,
});

/** Maximum size of a streamed reply without a digest that is buffered to compute its ETag. */
const maxCoalescedBytes = 16 * 1024 * 1024;
/** Size of a written chunk. Larger bodies are written in chunks, so that the client's pace can be measured. */
const pieceBytes = 65_536;
/** Number of bytes read ahead for a slow client, so that the source, e.g. a database cursor, is released early. */
const readAheadBytes = 4 * 1024 * 1024;

/** Sends the reply. Resolves when the bytes were passed to koa or the stream was sent. */
export async function sendReply(ctx: HttpContext, reply: RawReply, shape: ReplyShape): Promise<void> {
  if (reply.kind === 'bytes') return sendBytes(ctx, reply.bytes, reply.digest, shape);
  if (!shape.etag || reply.digest !== undefined) return sendStream(ctx, reply.chunks, reply.digest, shape);
  const coalesced: Uint8Array[] = [];
  let size = 0;
  const iterator = reply.chunks[Symbol.asyncIterator]();
  for (;;) {
    const { done, value } = await iterator.next();
    if (done === true) return sendBytes(ctx, Buffer.concat(coalesced, size), undefined, shape);
    coalesced.push(value);
    size += value.length;
    if (size > maxCoalescedBytes) return sendStream(ctx, rejoin(coalesced, iterator), undefined, shape);
  }
}

async function* rejoin(coalesced: Uint8Array[], rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* coalesced.splice(0);
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}

/** Returns an ETag for a digest that the service computed, with or without quotes. */
function toEtag(digest: string): string {
  return digest.startsWith('"') ? digest : `"${digest}"`;
}

/** Sends a complete body, or 304 when the client has it already. */
export function sendBytes(ctx: HttpContext, bytes: Uint8Array, digest: string | undefined, shape: ReplyShape): void {
  const { res } = ctx;
  if (shape.etag && isKnown(ctx, digest === undefined ? entityTag(bytes) : toEtag(digest))) return;
  ctx.status = shape.status;
  res.setHeader('Content-Type', shape.contentType);
  if (bytes.length <= pieceBytes || ctx.method === 'HEAD') {
    ctx.body = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return;
  }
  ctx.respond = false;
  res.setHeader('Content-Length', bytes.length);
  writePieces(ctx, bytes);
}

/** Sends a status without a body. */
export function sendEmpty(ctx: HttpContext, status: number): void {
  ctx.body = null; // otherwise koa would write the status text
  ctx.status = status;
}

/** Writes a body at the pace of the client; stops when the client disconnects. */
function writePieces(ctx: HttpContext, bytes: Uint8Array): void {
  const { res } = ctx;
  let written = 0;
  enforceResponsePace(ctx, () => bytes.length - written + res.writableLength);
  const writeMore = (): void => {
    while (written < bytes.length) {
      const piece = bytes.subarray(written, written + pieceBytes);
      written += piece.length;
      if (res.write(piece)) continue;
      res.once('drain', writeMore);
      return;
    }
    res.end();
  };
  writeMore();
}

function isKnown(ctx: HttpContext, etag: string): boolean {
  ctx.res.setHeader('ETag', etag);
  const condition = ctx.req.headers['if-none-match'];
  if (condition === undefined || !matchesEntityTag(condition, etag, 'weak')) return false;
  ctx.status = 304;
  return true;
}

async function sendStream(
  ctx: HttpContext,
  chunks: AsyncIterable<Uint8Array>,
  digest: string | undefined,
  shape: ReplyShape,
): Promise<void> {
  const { res } = ctx;
  const iterator = chunks[Symbol.asyncIterator]();
  const release = (): void => void iterator.return?.();
  if (digest !== undefined && shape.etag && isKnown(ctx, toEtag(digest))) return release();
  // Waits for the first chunk before the headers: until then an error is an ordinary error response.
  let next = await iterator.next();
  ctx.respond = false;
  res.writeHead(shape.status, { 'Content-Type': shape.contentType });
  if (ctx.method === 'HEAD') {
    release();
    res.end();
    return;
  }
  res.once('close', release);
  ctx.state.startResponse();
  enforceResponsePace(ctx, () => res.writableLength);
  try {
    while (next.done !== true && !res.destroyed) {
      if (!res.write(next.value) && (res.writableLength > readAheadBytes || ctx.state.responseBudget.isOverHalf))
        await waitForDrain(res);
      next = await iterator.next();
    }
    res.end();
  } catch (error) {
    release();
    throw error;
  }
}

/** Resolves when the client has read the written bytes, or has disconnected. */
export async function waitForDrain(res: ServerResponse): Promise<void> {
  if (res.destroyed) return;
  const settled = new AbortController();
  const { signal } = settled;
  try {
    await Promise.race([once(res, 'drain', { signal }), once(res, 'close', { signal })]);
  } finally {
    settled.abort();
  }
}
