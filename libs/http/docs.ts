/** The live documents and their pages, served from this process alone: no font, script, proxy or telemetry from elsewhere. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { notFound } from '#libs/errors';
import { type Asset, packAsset, sendAsset } from './asset.ts';
import type { HttpContext } from './exchange.ts';
import type { OpenApiDocument } from './openapi.ts';
import { sendBytes } from './reply.ts';

export interface Docs {
  /** The OpenAPI document as JSON, with a validator. */
  sendDocument(ctx: HttpContext): void;
  /** The interactive page. */
  sendPage(ctx: HttpContext): void;
}

/** The page may load and call nothing but its own server. */
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

/** Where the assets of every page are served. */
const assetsPath = '/api/docs/assets';

/** Document and page of one surface. */
export function createDocs(document: OpenApiDocument, documentPath: string): Docs {
  const json = Buffer.from(JSON.stringify(document), 'utf8');
  const title = escapeHtml(String(document.info['title']));
  const page = Buffer.from(
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">` +
      `<title>${title}</title><link rel="icon" href="data:,"></head><body><div id="reference" data-document="${documentPath}"></div>` +
      `<noscript>The document itself is at <a href="${documentPath}">${documentPath}</a>.</noscript>` +
      `<script src="${assetsPath}/reference.js"></script><script src="${assetsPath}/start.js"></script></body></html>`,
    'utf8',
  );
  return {
    sendDocument: (ctx) => {
      ctx.res.setHeader('Cache-Control', 'no-cache');
      sendBytes(ctx, json, undefined, { status: 200, contentType: 'application/json', etag: true });
    },
    sendPage: (ctx) => {
      ctx.res.setHeader('Cache-Control', 'no-cache');
      ctx.res.setHeader('Content-Security-Policy', contentSecurityPolicy);
      ctx.res.setHeader('Referrer-Policy', 'no-referrer');
      sendBytes(ctx, page, undefined, { status: 200, contentType: 'text/html; charset=utf-8', etag: true });
    },
  };
}

/** Starts the page; `agent` and `mcp` are its assistants, which would talk to its maker's servers. */
const startScript = `(() => {
  const element = document.getElementById('reference');
  Scalar.createApiReference(element, {
    url: element.dataset.document,
    withDefaultFonts: false,
    telemetry: false,
    showDeveloperTools: 'never',
    hideClientButton: true,
    persistAuth: false,
    agent: { disabled: true },
    mcp: { disabled: true },
    externalUrls: { dashboardUrl: '', registryUrl: '', proxyUrl: '', apiBaseUrl: '' },
  });
})();
`;

/** Serves `reference.js` and `start.js`; the bundle is read and compressed once, at its first request. */
export function createDocsAssets(): (ctx: HttpContext, file: string) => Promise<void> {
  const loaders: Readonly<Record<string, () => Promise<Buffer>>> = {
    'reference.js': () => readFile(findBundle()),
    'start.js': async () => Buffer.from(startScript, 'utf8'),
  };
  const assets = new Map<string, Promise<Asset>>();
  return async (ctx, file) => {
    const load = Object.hasOwn(loaders, file) ? loaders[file] : undefined;
    if (load === undefined) throw notFound();
    let asset = assets.get(file);
    if (asset === undefined) {
      asset = load().then((plain) => packAsset(plain, 'text/javascript; charset=utf-8'));
      assets.set(file, asset);
      asset.catch(() => assets.delete(file));
    }
    sendAsset(ctx, await asset, 'public, max-age=3600');
  };
}

/** The one-file browser bundle inside the installed package. */
function findBundle(): string {
  const entry = createRequire(import.meta.url).resolve('@scalar/api-reference');
  return `${entry.slice(0, entry.indexOf('/dist/'))}/dist/browser/standalone.js`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
