/** Serves the console: page, modules, and sign-in. Files are served unchanged; libraries are read from node_modules. */
import { hash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, extname, join } from 'node:path';
import { scopes } from '#libs/infrastructure/contract';
import { notFound } from '#libs/infrastructure/errors';
import { type Asset, createAsset, type RouteHandlers, sendAsset, sendBytes } from '#libs/infrastructure/http';
import { directory } from '#services/directory';
import { findCookie } from '../console/session-guard.ts';
import { hashInvitation } from '../invitation-tokens.ts';
import { readPageFile } from './page-file.ts';
import type { Dependencies } from '../dependencies.ts';
import type { consoleRoutes } from '../routes/console.ts';

const folder = join(import.meta.dirname, '..', 'console-page');
const template = 'index.html';

const contentTypes: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Paths of library files in their packages, by the specifiers of our imports. */
const modules: Readonly<Record<string, string>> = {
  preact: 'preact/dist/preact.mjs',
  'preact/hooks': 'preact/hooks/dist/hooks.mjs',
  htm: 'htm/dist/htm.mjs',
  uplot: 'uplot/dist/uPlot.esm.js',
};

/** Style sheets of these libraries, which the page references. */
const styles = ['uplot/dist/uPlot.min.css'];

/** Creates the handlers of the page and its files. The files are read once. */
export function createConsoleHandlers({
  bus,
  filterLogin,
  providerSignIn,
}: Pick<Dependencies, 'bus' | 'filterLogin' | 'providerSignIn'>): RouteHandlers<(typeof consoleRoutes)[number]> {
  const assets = readAssets();
  // All files share one version, as the modules use relative imports.
  const version = hash('sha256', [...assets.values()].map(({ tag }) => tag).join(), 'base64url').slice(0, 16);
  const { page, contentSecurityPolicy } = composePage(
    `/console/assets/${version}`,
    providerSignIn === undefined ? 'password' : 'provider',
  );
  const provider = providerSignIn?.(bus);

  return {
    'console-page': ({ ctx }) => {
      const { res } = ctx;
      res.setHeader('Content-Security-Policy', contentSecurityPolicy);
      res.setHeader('Referrer-Policy', 'no-referrer');
      res.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
      res.setHeader('Cross-Origin-Resource-Policy', 'same-origin');
      res.setHeader('Permissions-Policy', 'camera=(), microphone=(), geolocation=()');
      res.setHeader('Cache-Control', 'no-cache');
      sendBytes(ctx, page, undefined, { status: 200, contentType: 'text/html; charset=utf-8', etag: true });
    },
    'console-asset': async ({ ctx, input }) => {
      const asset = assets.get(input.params.file);
      if (asset === undefined) throw notFound();
      ctx.res.setHeader('Cross-Origin-Resource-Policy', 'same-origin');
      // During a rollout the page can be of another release. The file of this release is then served uncached.
      await sendAsset(
        ctx,
        asset,
        input.params.version === version ? 'public, max-age=31536000, immutable' : 'no-store',
      );
    },
    'console-begin-sign-in': (request) => (provider ?? absent()).start(request),
    'console-finish-sign-in': (request) => (provider ?? absent()).finish(request),
    'console-leave-provider': (request) => (provider ?? absent()).signOut(request),
    'console-sign-in': async ({ ctx, input, call, answer }) => {
      // With an identity provider, password sign-in is not available (S3).
      if (provider !== undefined) throw notFound();
      ctx.res.setHeader('Cache-Control', 'no-store');
      const login = filterLogin({ ...input.body, ip: input.ip, without_gate_key: true });
      const { token, person } = await bus.call(directory.rpcs.login, login, call);
      ctx.res.appendHeader('Set-Cookie', findCookie(ctx).write(token));
      answer({ person });
    },
    'console-accept-invitation': async ({ ctx, input, call, answer }) => {
      ctx.res.setHeader('Cache-Control', 'no-store');
      const { token, password } = input.body;
      const request = { token_sha256: hashInvitation(token), password, ip: input.ip };
      answer(await bus.call(directory.rpcs.acceptInvitation, request, call));
    },
  };
}

function absent(): never {
  throw notFound();
}

function readAssets(): Map<string, Asset> {
  const own = readdirSync(folder).map((file) => join(folder, file));
  const others = [...Object.values(modules), ...styles].map(findInPackage);
  const read = [
    ...own.map((path) => [path, readPageFile] as const),
    ...others.map((path) => [path, readFileSync] as const),
  ];
  const assets = read
    .filter(([path]) => contentTypes[extname(path)] !== undefined)
    .map(
      ([path, readFile]) => [basename(path), createAsset(readFile(path), contentTypes[extname(path)] ?? '')] as const,
    );
  return new Map(assets);
}

/** Returns the path of a package file, wherever npm installed the package. */
function findInPackage(path: string): string {
  const [name = '', ...rest] = path.split('/');
  const paths = createRequire(import.meta.url).resolve.paths(name) ?? [];
  const found = paths.map((folderPath) => join(folderPath, name, ...rest)).find((file) => existsSync(file));
  if (found === undefined) throw new Error(`${path} is not installed`);
  return found;
}

/**
 * Returns the page and its content security policy: content of this server only, no inline scripts except the import
 * map, no embedding in frames.
 */
function composePage(
  assetsPath: string,
  signIn: 'password' | 'provider',
): { page: Buffer; contentSecurityPolicy: string } {
  const imports = Object.fromEntries(
    Object.entries(modules).map(([name, path]) => [name, `${assetsPath}/${basename(path)}`]),
  );
  const importMap = JSON.stringify({ imports });
  const values: Readonly<Record<string, string>> = {
    assets: assetsPath,
    importMap: `<script type="importmap">${importMap}</script>`,
    scopes: scopes.join(' '),
    signIn,
  };
  const page = readFileSync(join(folder, template), 'utf8').replaceAll(
    /\{\{(\w+)\}\}/g,
    (_, name: string) => values[name] ?? '',
  );
  const policy = [
    "default-src 'none'",
    `script-src 'self' 'sha256-${hash('sha256', importMap, 'base64')}'`,
    "style-src 'self'",
    "img-src 'self'",
    "media-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  return { page: Buffer.from(page, 'utf8'), contentSecurityPolicy: policy.join('; ') };
}
