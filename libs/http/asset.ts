/** Files of pages: compressed once, served with a validator. */
import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { HttpContext } from './exchange.ts';
import { sendBytes } from './reply.ts';

export interface Asset {
  readonly plain: Buffer;
  readonly packed: Buffer;
  readonly tag: string;
  readonly contentType: string;
}

export async function packAsset(plain: Buffer, contentType: string): Promise<Asset> {
  return { plain, packed: await promisify(gzip)(plain), tag: hash('sha256', plain, 'base64url'), contentType };
}

/** @param cacheControl how long browsers and proxies may keep it. */
export function sendAsset(ctx: HttpContext, { plain, packed, tag, contentType }: Asset, cacheControl: string): void {
  const { res } = ctx;
  const compressed = /\bgzip\b/.test(ctx.req.headers['accept-encoding'] ?? '');
  res.setHeader('Cache-Control', cacheControl);
  res.appendHeader('Vary', 'Accept-Encoding');
  res.setHeader('X-Content-Type-Options', 'nosniff');
  if (compressed) res.setHeader('Content-Encoding', 'gzip');
  sendBytes(ctx, compressed ? packed : plain, compressed ? `${tag}-gzip` : tag, { status: 200, contentType, etag: true });
}
