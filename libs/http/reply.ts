/** Sending an operation's reply: bytes as they came, streams of any size with back-pressure, validators where they are declared. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { unavailable } from '#libs/errors';
import { entityTag, matchesEntityTag } from '#libs/etag';
import type { RawReply } from '#libs/nats';
import type { HttpContext } from './exchange.ts';

export interface ReplyShape {
  readonly status: number;
  readonly contentType: string;
  /** Strong ETag and If-None-Match. */
  readonly etag: boolean;
}

/** A reply in parts whose producer gave no digest is gathered up to this many bytes, so that it can have an ETag. */
const maxGatheredBytes = 16 * 1024 * 1024;
/** A client that takes nothing for so long loses its answer; it holds memory in every process on the way. */
const stallLimitMs = 60_000;

/** Answers with the reply; resolves when it is handed to koa or, for a stream, sent. */
export async function sendReply(ctx: HttpContext, reply: RawReply, shape: ReplyShape): Promise<void> {
  if (reply.kind === 'bytes') return sendBytes(ctx, reply.bytes, reply.digest, shape);
  if (!shape.etag || reply.digest !== undefined) return sendStream(ctx, reply.chunks, reply.digest, shape);
  const gathered: Uint8Array[] = [];
  let size = 0;
  const iterator = reply.chunks[Symbol.asyncIterator]();
  for (;;) {
    const { done, value } = await iterator.next();
    if (done === true) return sendBytes(ctx, Buffer.concat(gathered, size), undefined, shape);
    gathered.push(value);
    size += value.length;
    if (size > maxGatheredBytes) return sendStream(ctx, rejoin(gathered, iterator), undefined, shape);
  }
}

async function* rejoin(gathered: Uint8Array[], rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* gathered.splice(0);
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}

/** The tag of a digest that the producer of the bytes made; as `entityTag` or without its quotes. */
function toEtag(digest: string): string {
  return digest.startsWith('"') ? digest : `"${digest}"`;
}

/** A whole body; 304 when the client has it already. */
export function sendBytes(ctx: HttpContext, bytes: Uint8Array, digest: string | undefined, shape: ReplyShape): void {
  const { res } = ctx;
  if (shape.etag && isKnown(ctx, digest === undefined ? entityTag(bytes) : toEtag(digest))) return;
  ctx.status = shape.status;
  res.setHeader('Content-Type', shape.contentType);
  ctx.body = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
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
  const leave = (): void => void iterator.return?.();
  if (digest !== undefined && shape.etag && isKnown(ctx, toEtag(digest))) return leave();
  // Nothing is sent before the first part: until then a failure still is an error answer.
  let next = await iterator.next();
  ctx.respond = false;
  res.writeHead(shape.status, { 'Content-Type': shape.contentType });
  if (ctx.method === 'HEAD') {
    leave();
    res.end();
    return;
  }
  res.once('close', leave);
  try {
    while (next.done !== true && !res.destroyed) {
      if (!res.write(next.value)) await waitForDrain(res);
      next = await iterator.next();
    }
    res.end();
  } catch (error) {
    leave();
    throw error;
  }
}

async function waitForDrain(res: ServerResponse): Promise<void> {
  if (res.destroyed) return;
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), stallLimitMs);
  try {
    await Promise.race([once(res, 'drain', { signal: abort.signal }), once(res, 'close', { signal: abort.signal })]);
  } catch {
    throw unavailable('The client stopped reading');
  } finally {
    clearTimeout(timer);
    abort.abort();
  }
}
