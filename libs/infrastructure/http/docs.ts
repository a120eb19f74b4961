/**
 * The live documents and their pages. This process serves all files: the pages load no fonts or scripts, and use no
 * proxies or telemetry, from other servers.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { notFound } from '#libs/infrastructure/errors';
import { type Asset, createAsset, sendAsset } from './asset.ts';
import { readDocsBundle } from './docs-bundle.ts';
import type { HttpContext } from './exchange.ts';
import type { OpenApiDocument } from './openapi.ts';
import { sendBytes } from './reply.ts';

export interface Docs {
  /** Sends the OpenAPI document as JSON with an ETag. */
  sendDocument(ctx: HttpContext): void;
  /** Sends the interactive page of the document. */
  sendPage(ctx: HttpContext): void;
}

/** The page may only load from and connect to its own server. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "worker-src 'self' blob:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Path of the scripts and styles of every page. */
const assetsPath = '/api/docs/assets';
const pageFolder = join(import.meta.dirname, 'docs-page');

/**
 * Returns a handler that sends a document as JSON with an ETag. The document is built on the first request, because
 * most replicas of a gateway never get one.
 */
export function createDocument(build: () => object): (ctx: HttpContext) => void {
  let json: Buffer | undefined;
  return (ctx) => {
    json ??= Buffer.from(JSON.stringify(build()), 'utf8');
    ctx.res.setHeader('Cache-Control', 'no-cache');
    sendBytes(ctx, json, undefined, { status: 200, contentType: 'application/json', etag: true });
  };
}

/** Creates the handlers for the document and page of one surface; each is built on its first request. */
export function createDocs(build: () => OpenApiDocument, documentPath: string): Docs {
  let document: OpenApiDocument | undefined;
  let page: Buffer | undefined;
  const read = (): OpenApiDocument => (document ??= build());
  return {
    sendDocument: createDocument(read),
    sendPage: (ctx) => {
      page ??= composePage(read(), documentPath);
      ctx.res.setHeader('Cache-Control', 'no-cache');
      ctx.res.setHeader('Content-Security-Policy', contentSecurityPolicy);
      ctx.res.setHeader('Referrer-Policy', 'no-referrer');
      sendBytes(ctx, page, undefined, { status: 200, contentType: 'text/html; charset=utf-8', etag: true });
    },
  };
}

function composePage({ info, components }: OpenApiDocument, documentPath: string): Buffer {
  const title = escapeHtml(String(info['title']));
  const [scheme = ''] = Object.keys(components.securitySchemes);
  return Buffer.from(
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">` +
      `<title>${title}</title><link rel="icon" href="data:,"><link rel="stylesheet" href="${assetsPath}/page.css"></head>` +
      `<body><div id="reference" data-document="${documentPath}" data-scheme="${scheme}"></div>` +
      `<noscript>The document itself is at <a href="${documentPath}">${documentPath}</a>.</noscript>` +
      `<script src="${assetsPath}/reference.js"></script><script src="${assetsPath}/start.js"></script></body></html>`,
    'utf8',
  );
}

const javascript = 'text/javascript; charset=utf-8';

/**
 * Returns a handler for the scripts and styles of the pages. Each file is read and compressed once, on its first
 * request.
 */
export function createDocsAssets(): (ctx: HttpContext, file: string) => Promise<void> {
  const files: Readonly<Record<string, { read: () => Promise<Buffer>; contentType: string }>> = {
    'reference.js': { read: readDocsBundle, contentType: javascript },
    'start.js': { read: () => readFile(join(pageFolder, 'start.js')), contentType: javascript },
    'page.css': { read: () => readFile(join(pageFolder, 'page.css')), contentType: 'text/css; charset=utf-8' },
  };
  const assets = new Map<string, Promise<Asset>>();
  return async (ctx, file) => {
    const found = Object.hasOwn(files, file) ? files[file] : undefined;
    if (found === undefined) throw notFound();
    let asset = assets.get(file);
    if (asset === undefined) {
      asset = found.read().then((plain) => createAsset(plain, found.contentType));
      assets.set(file, asset);
      asset.catch(() => assets.delete(file));
    }
    await sendAsset(ctx, await asset, 'public, max-age=3600');
  };
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
