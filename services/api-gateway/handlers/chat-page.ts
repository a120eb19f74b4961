/**
 * The page of an agent for visitors, and the first page of the installation: templates and a few files that are served as they are, from this
 * process alone. Which agents exist is no secret (the chat answers 404 for others); everything else about them is, so the title is made of the
 * slug.
 */
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AppError, notFound } from '#libs/errors';
import { type Asset, type HttpContext, packAsset, type RouteHandlers, sendAsset, sendBytes } from '#libs/http';
import type { Bus } from '#libs/nats';
import { agents, maxChatBodyCharacters } from '#services/agents';
import type { chatPageRoutes } from '../routes/chat-page.ts';

const folder = join(import.meta.dirname, '..', 'chat-page');

const contentTypes = {
  'home.js': 'text/javascript; charset=utf-8',
  'page.js': 'text/javascript; charset=utf-8',
  'chat-api.js': 'text/javascript; charset=utf-8',
  'log-view.js': 'text/javascript; charset=utf-8',
  'safe-html.js': 'text/javascript; charset=utf-8',
  'thread-store.js': 'text/javascript; charset=utf-8',
  'page.css': 'text/css; charset=utf-8',
  'icon.svg': 'image/svg+xml',
} as const;

/** The page may load from and talk to its own server only, runs no inline script or style, and stands in no other page. */
const securityHeaders: readonly (readonly [string, string])[] = [
  [
    'Content-Security-Policy',
    [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "img-src 'self'",
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
  ],
  ['X-Content-Type-Options', 'nosniff'],
  ['Referrer-Policy', 'no-referrer'],
  ['Cross-Origin-Opener-Policy', 'same-origin'],
  ['Permissions-Policy', 'camera=(), microphone=(), geolocation=()'],
];

/** Handlers of the page and its files, which are read and compressed once, here. */
export async function createChatPage(bus: Pick<Bus, 'call'>): Promise<RouteHandlers<(typeof chatPageRoutes)[number]>> {
  const assets = new Map<string, Asset>();
  for (const [file, contentType] of Object.entries(contentTypes)) {
    assets.set(file, await packAsset(readFileSync(join(folder, file)), contentType));
  }
  // One for all: the modules import each other by relative names.
  const version = hash('sha256', [...assets.values()].map(({ tag }) => tag).join(), 'base64url').slice(0, 16);
  const assetsPath = `/chat/assets/${version}`;
  const template = readFileSync(join(folder, 'index.html'), 'utf8');
  const home = Buffer.from(fill(readFileSync(join(folder, 'home.html'), 'utf8'), { assets: assetsPath }), 'utf8');
  const absent = Buffer.from(fill(readFileSync(join(folder, 'not-found.html'), 'utf8'), { assets: assetsPath }), 'utf8');

  const sendFile = (ctx: HttpContext, file: string, cacheControl: string): void => {
    const asset = assets.get(file);
    if (asset === undefined) throw notFound();
    ctx.res.setHeader('Cross-Origin-Resource-Policy', 'same-origin');
    sendAsset(ctx, asset, cacheControl);
  };

  return {
    'home-page': ({ ctx }) => sendPage(ctx, home, 200),
    icon: ({ ctx }) => sendFile(ctx, 'icon.svg', 'public, max-age=86400'),
    'chat-page': async ({ ctx, input, call }) => {
      const slug = input.params.agent_slug;
      const known = await isKnown(slug, (request) => bus.call(agents.rpcs.getAgent, request, call));
      if (!known) return sendPage(ctx, absent, 404);
      const title = toTitle(slug);
      const values = { assets: assetsPath, slug, title, initial: title.charAt(0), maxLength: String(maxChatBodyCharacters) };
      sendPage(ctx, Buffer.from(fill(template, values), 'utf8'), 200);
    },
    'chat-page-asset': ({ ctx, input }) => {
      // A page of another release, while replicas are being replaced: this one's file, but not for keeping.
      const cacheControl = input.params.version === version ? 'public, max-age=31536000, immutable' : 'no-store';
      sendFile(ctx, input.params.file, cacheControl);
    },
  };
}

/** True also when the agents service cannot be asked now: the page retries by itself. */
async function isKnown(slug: string, getAgent: (request: { slug: string }) => Promise<unknown>): Promise<boolean> {
  try {
    await getAgent({ slug });
    return true;
  } catch (error) {
    return !(error instanceof AppError && error.code === 'not_found');
  }
}

function sendPage(ctx: HttpContext, page: Buffer, status: number): void {
  for (const [name, value] of securityHeaders) ctx.res.setHeader(name, value);
  ctx.res.setHeader('Cache-Control', 'no-cache');
  sendBytes(ctx, page, undefined, { status, contentType: 'text/html; charset=utf-8', etag: status === 200 });
}

/** `welcome-guide` → `Welcome guide`. */
export function toTitle(slug: string): string {
  const words = slug.replaceAll(/[-_]+/g, ' ').trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function fill(template: string, values: Readonly<Record<string, string>>): string {
  return template.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => escapeHtml(values[name] ?? ''));
}

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
