/** The console as the gateway serves it without other services: its files, and 404 where the console is disabled. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connectBus } from '#libs/infrastructure/nats';
import { createTestEnvironment, startService, type TestEnvironment } from '#libs/product/testing';

let env: TestEnvironment;
beforeAll(async () => {
  env = await createTestEnvironment(import.meta.url);
  const bus = await connectBus({
    url: env.settings['NATS_URL'] ?? '',
    name: 'set-up',
    prefix: env.settings['NATS_SUBJECT_PREFIX'],
    logger: env.logger,
    actors: env.actors,
  });
  await bus.ensureStreams();
  await bus.close();
});
afterAll(() => env.stop());

async function start(settings: Record<string, string> = {}): Promise<string> {
  const { port } = (await startService('api-gateway', env, settings)) as unknown as { port: number };
  return `http://127.0.0.1:${port}`;
}

describe('GET /console (P6)', () => {
  it('references only existing files, each cached until the file changes', async () => {
    const baseUrl = await start();
    const html = await (await fetch(`${baseUrl}/console/keys/7`)).text();
    const linked = [...html.matchAll(/"(\/console\/assets\/[^"]+)"/g)].map(([, path = '']) => path);
    const files = [
      'uPlot.min.css',
      'uPlot.esm.js',
      'console.css',
      'hooks.mjs',
      'htm.mjs',
      'icon.svg',
      'main.js',
      'preact.mjs',
    ];
    expect(new Set(linked.map((path) => path.split('/').at(-1)))).toEqual(new Set(files));
    const seen = new Set<string>();
    const follow = async (path: string): Promise<void> => {
      if (seen.has(path)) return;
      seen.add(path);
      const file = await fetch(`${baseUrl}${path}`);
      expect([path, file.status, file.headers.get('cache-control')]).toEqual([
        path,
        200,
        'public, max-age=31536000, immutable',
      ]);
      const text = await file.text();
      const imports = [...text.matchAll(/from '\.\/([a-z-]+\.js)'/g)].map(([, name = '']) =>
        path.replace(/[^/]+$/, name),
      );
      await Promise.all(imports.map(follow));
    };
    await Promise.all(linked.map(follow));
    expect(seen.size).toBeGreaterThan(10);
    const [first = ''] = linked;
    const older = await fetch(`${baseUrl}${first.replace(/assets\/[^/]+/, 'assets/older')}`);
    expect([older.status, older.headers.get('cache-control')]).toEqual([200, 'no-store']);
    for (const file of ['index.html', 'tsconfig.json', 'nothing.js', '..%2findex.html', '__proto__'])
      expect((await fetch(`${baseUrl}/console/assets/x/${file}`)).status).toBe(404);
  });

  it('returns 404 for the console and its sign-in with CONSOLE_ENABLED=false', async () => {
    const baseUrl = await start({ CONSOLE_ENABLED: 'false' });
    for (const path of ['/console', '/console/keys', '/console/api/v1/auth/whoami'])
      expect((await fetch(`${baseUrl}${path}`, { headers: { origin: baseUrl } })).status).toBe(404);
    const signIn = {
      method: 'POST',
      headers: { origin: baseUrl, 'content-type': 'application/json' },
      body: '{"email":"a","password":"b"}',
    };
    expect((await fetch(`${baseUrl}/console/session`, signIn)).status).toBe(404);
    // Accounts of the API set their passwords on the page of their invitation.
    const invitation = await fetch(`${baseUrl}/console/invitation`);
    const [, asset = ''] = /src="(\/console\/assets\/[^"]+)"/.exec(await invitation.text()) ?? [];
    expect([invitation.status, (await fetch(`${baseUrl}${asset}`)).status]).toEqual([200, 200]);
    const accept = { ...signIn, body: '{"token":"a","password":"b"}' };
    expect((await fetch(`${baseUrl}/console/invitation`, accept)).status).not.toBe(404);
  });
});
