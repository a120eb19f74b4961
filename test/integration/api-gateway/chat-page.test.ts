/** The visitor page as the gateway serves it, with and without an available agents service. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { defineService } from '#libs/infrastructure/contract';
import { notFound } from '#libs/infrastructure/errors';
import { type Bus, connectBus } from '#libs/infrastructure/nats';
import { createTestEnvironment, startService, type TestEnvironment } from '#libs/product/testing';
import { agents } from '#services/agents';

const { getAgent } = agents.rpcs;
const contract = defineService({ service: 'agents', rpcs: { getAgent }, jobs: {}, events: {} });

let env: TestEnvironment;
let bus: Bus;
let baseUrl: string;

beforeAll(async () => {
  env = await createTestEnvironment(import.meta.url);
  bus = await connectBus({
    url: env.settings['NATS_URL'] ?? '',
    name: 'stand-ins',
    checkReplies: true,
    prefix: env.settings['NATS_SUBJECT_PREFIX'],
    logger: env.logger,
    actors: env.actors,
  });
  await bus.ensureStreams();
  const { port } = (await startService('api-gateway', env)) as unknown as { port: number };
  baseUrl = `http://127.0.0.1:${port}`;
});
afterAll(async () => {
  await bus.close();
  await env.stop();
});

const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${baseUrl}${path}`, { headers });
const listAssets = (html: string): string[] =>
  [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1] ?? '');

describe('GET /chat/{agent_slug}', () => {
  it('serves the chat page even when the agents service is unavailable', async () => {
    const response = await get('/chat/some-guide');
    expect(response.status).toBe(200);
    const html = await response.text();
    expect(html).toContain('<h1>Some guide</h1>');
    expect(html).toContain('data-agent="some-guide" data-max-length="16384"');
  });

  it('returns 404 for an unknown agent and escapes its slug', async () => {
    const served = await bus.serve(contract, {
      getAgent: ({ slug }) =>
        slug === 'nobody'
          ? Promise.reject(notFound())
          : Promise.resolve({ slug, name: 'Secret name', prompt: 'Secret prompt', infos: {} }),
    });
    const absent = await get('/chat/nobody');
    expect([absent.status, absent.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
    expect(absent.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    const html = await (await get(`/chat/${encodeURIComponent('"><script>a</script>&')}`)).text();
    expect(html).toContain('data-agent="&#34;&#62;&#60;script&#62;a&#60;/script&#62;&#38;"');
    expect(html).not.toMatch(/Secret|<script>a/);
    await served.drain();
  });

  it('forbids inline code, other hosts and framing on the chat page by CSP', async () => {
    const { headers } = await get('/chat/guide');
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy.split('; ').toSorted()).toEqual([
      "base-uri 'none'",
      "connect-src 'self'",
      "default-src 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "img-src 'self'",
      "script-src 'self'",
      "style-src 'self'",
    ]);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('cache-control')).toBe('no-cache');
  });

  it('returns 304 for a cached chat page', async () => {
    const tag = (await get('/chat/guide')).headers.get('etag') ?? '';
    expect((await get('/chat/guide', { 'if-none-match': tag })).status).toBe(304);
  });
});

describe('GET /', () => {
  it('serves a start page with working links to the documents and chats', async () => {
    const response = await get('/');
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(response.headers.get('content-security-policy')).toContain("script-src 'self'");
    const html = await response.text();
    expect(html).not.toContain('{{');
    const paths = listAssets(html);
    expect(paths).toEqual(expect.arrayContaining(['/api/docs', '/api/v1/docs', expect.stringContaining('home.js')]));
    for (const path of paths) expect([path, (await get(path)).status]).toEqual([path, 200]);
  });

  it('serves a favicon', async () => {
    const response = await get('/favicon.ico');
    expect([response.status, response.headers.get('content-type'), (await response.text()).slice(0, 4)]).toEqual([
      200,
      'image/svg+xml',
      '<svg',
    ]);
  });
});

describe('GET /chat/assets/{version}/{file}', () => {
  it('serves every asset of the chat page with an immutable cache lifetime', async () => {
    const paths = listAssets(await (await get('/chat/guide')).text());
    expect(paths.map((path) => path.split('/').at(-1))).toEqual(['icon.svg', 'page.css', 'page.js']);
    for (const path of paths) {
      const response = await get(path);
      expect([response.status, response.headers.get('cache-control')]).toEqual([
        200,
        'public, max-age=31536000, immutable',
      ]);
      expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    }
    const script = await get(paths[2] ?? '');
    expect(script.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    for (const [, name] of (await script.text()).matchAll(/from '\.\/([^']+)'/g)) {
      expect((await get((paths[2] ?? '').replace('page.js', name ?? ''))).status).toBe(200);
    }
  });

  it('serves the current assets to a page of another release, without caching', async () => {
    const response = await get('/chat/assets/another/page.js');
    expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'no-store']);
  });

  it.each(['index.html', 'tsconfig.json', '..%2Fmain.ts', 'constructor'])(
    'returns 404 for the asset %s',
    async (file) => {
      expect((await get(`/chat/assets/any/${file}`)).status).toBe(404);
    },
  );
});
