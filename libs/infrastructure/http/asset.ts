/**
 * Static files of pages. A file is compressed once, for the first client that accepts compression, and served with a
 * validator.
 */
import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { HttpContext } from './exchange.ts';
import { sendBytes } from './reply.ts';

export interface Asset {
  readonly plain: Buffer;
  readonly pack: () => Promise<Buffer>;
  readonly tag: string;
  readonly contentType: string;
}

export function createAsset(plain: Buffer, contentType: string): Asset {
  let packed: Promise<Buffer> | undefined;
  return {
    plain,
    pack: () => (packed ??= promisify(gzip)(plain)),
    tag: hash('sha256', plain, 'base64url'),
    contentType,
  };
}

/** @param cacheControl how long browsers and proxies may cache the file. */
export async function sendAsset(
  ctx: HttpContext,
  { plain, pack, tag, contentType }: Asset,
  cacheControl: string,
): Promise<void> {
  const { res } = ctx;
  const packed = /\bgzip\b/.test(ctx.req.headers['accept-encoding'] ?? '') ? await pack() : undefined;
  res.setHeader('Cache-Control', cacheControl);
  res.appendHeader('Vary', 'Accept-Encoding');
  res.setHeader('X-Content-Type-Options', 'nosniff');
  if (packed !== undefined) res.setHeader('Content-Encoding', 'gzip');
  sendBytes(ctx, packed ?? plain, packed === undefined ? tag : `${tag}-gzip`, { status: 200, contentType, etag: true });
}
