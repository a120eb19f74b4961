/**
 * Serves the home page and the chat page of an agent for visitors. Templates and files are served unchanged. The
 * existence of an agent is public (the chat returns 404 for others); of its data only the `infos` for the page are
 * public (rules/agents#embedded).
 */
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AppError, notFound } from '#libs/infrastructure/errors';
import {
  type Asset,
  createAsset,
  type HttpContext,
  type RouteHandlers,
  sendAsset,
  sendBytes,
} from '#libs/infrastructure/http';
import { agents } from '#services/agents';
import type { Dependencies } from '../dependencies.ts';
import { readPageFile } from './page-file.ts';
import {
  chooseLanguage,
  fill,
  languages,
  readLanguages,
  readVisible,
  type VisibleAgent,
  writePage,
} from './visitor-page.ts';
import type { chatPageRoutes } from '../routes/chat-page.ts';

const folder = join(import.meta.dirname, '..', 'chat-page');

const contentTypes = {
  'home.js': 'text/javascript; charset=utf-8',
  'page.js': 'text/javascript; charset=utf-8',
  'chat-api.js': 'text/javascript; charset=utf-8',
  'event-stream.js': 'text/javascript; charset=utf-8',
  'log-view.js': 'text/javascript; charset=utf-8',
  'patch.js': 'text/javascript; charset=utf-8',
  'safe-html.js': 'text/javascript; charset=utf-8',
  'strings.js': 'text/javascript; charset=utf-8',
  'thread-store.js': 'text/javascript; charset=utf-8',
  'page.css': 'text/css; charset=utf-8',
  'icon.svg': 'image/svg+xml',
} as const;

/**
 * Returns the security headers. They allow content of this server only, except for the agent's logo, and no inline
 * scripts or styles.
 */
function writeSecurity(logo: string | undefined, ancestors: readonly string[]): readonly (readonly [string, string])[] {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    ["img-src 'self'", ...(logo === undefined || logo.startsWith('/') ? [] : [new URL(logo).origin])].join(' '),
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${ancestors.length === 0 ? "'none'" : ["'self'", ...ancestors].join(' ')}`,
  ];
  return [
    ['Content-Security-Policy', policy.join('; ')],
    ['X-Content-Type-Options', 'nosniff'],
    ['Referrer-Policy', 'no-referrer'],
    ['Cross-Origin-Opener-Policy', 'same-origin'],
    ['Permissions-Policy', 'camera=(), microphone=(), geolocation=()'],
  ];
}

/** Creates the handlers of the page and its files. The files are read once. */
export function createChatPageHandlers({
  bus,
  embedOrigins,
}: Pick<Dependencies, 'bus' | 'embedOrigins'>): RouteHandlers<(typeof chatPageRoutes)[number]> {
  const assets = new Map<string, Asset>();
  for (const [file, contentType] of Object.entries(contentTypes)) {
    assets.set(file, createAsset(readPageFile(join(folder, file)), contentType));
  }
  // All files share one version, as the modules use relative imports.
  const version = hash('sha256', [...assets.values()].map(({ tag }) => tag).join(), 'base64url').slice(0, 16);
  const assetsPath = `/chat/assets/${version}`;
  const template = readFileSync(join(folder, 'index.html'), 'utf8');
  const home = Buffer.from(fill(readFileSync(join(folder, 'home.html'), 'utf8'), { assets: assetsPath }), 'utf8');
  const absent = Buffer.from(
    fill(readFileSync(join(folder, 'not-found.html'), 'utf8'), { assets: assetsPath }),
    'utf8',
  );

  const words = readLanguages();
  const embed = createAsset(readFileSync(join(folder, 'embed.js')), 'text/javascript; charset=utf-8');
  const unframed = writeSecurity(undefined, []);

  const sendFile = async (ctx: HttpContext, file: string, cacheControl: string): Promise<void> => {
    const asset = assets.get(file);
    if (asset === undefined) throw notFound();
    ctx.res.setHeader('Cross-Origin-Resource-Policy', 'same-origin');
    await sendAsset(ctx, asset, cacheControl);
  };

  return {
    'home-page': ({ ctx }) => sendPage(ctx, home, 200, unframed),
    icon: ({ ctx }) => sendFile(ctx, 'icon.svg', 'public, max-age=86400'),
    'chat-page': async ({ ctx, input, call }) => {
      const slug = input.params.agent_slug;
      const agent = await findVisible(slug, (request) => bus.call(agents.rpcs.getAgent, request, call));
      if (agent === undefined) return sendPage(ctx, absent, 404, unframed);
      const language = chooseLanguage(input.query.lang, ctx.acceptsLanguages(...languages));
      ctx.vary('Accept-Language');
      const page = writePage(template, agent, { ...words[language], language, assets: assetsPath, slug });
      sendPage(ctx, Buffer.from(page, 'utf8'), 200, writeSecurity(agent.logo, embedOrigins));
    },
    'chat-embed': async ({ ctx }) => {
      ctx.res.setHeader('Cross-Origin-Resource-Policy', 'cross-origin');
      await sendAsset(ctx, embed, 'public, max-age=3600');
    },
    'chat-page-asset': async ({ ctx, input }) => {
      // During a rollout the page can be of another release. The file of this release is then served uncached.
      const cacheControl = input.params.version === version ? 'public, max-age=31536000, immutable' : 'no-store';
      await sendFile(ctx, input.params.file, cacheControl);
    },
  };
}

/**
 * Returns the public data of the agent; returns undefined when the agent does not exist. When the service is
 * unavailable, the page shows the slug and retries.
 */
async function findVisible(
  slug: string,
  getAgent: (request: { slug: string }) => Promise<{ infos: unknown }>,
): Promise<VisibleAgent | undefined> {
  try {
    return readVisible(slug, (await getAgent({ slug })).infos);
  } catch (error) {
    return error instanceof AppError && error.code === 'not_found' ? undefined : readVisible(slug, undefined);
  }
}

function sendPage(
  ctx: HttpContext,
  page: Buffer,
  status: number,
  security: readonly (readonly [string, string])[],
): void {
  for (const [name, value] of security) ctx.res.setHeader(name, value);
  ctx.res.setHeader('Cache-Control', 'no-cache');
  sendBytes(ctx, page, undefined, { status, contentType: 'text/html; charset=utf-8', etag: status === 200 });
}
