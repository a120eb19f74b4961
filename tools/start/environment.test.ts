import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { chooseSettings, settingsOf } from './environment.ts';

let dataDir: string;
beforeAll(() => void (dataDir = mkdtempSync(join(tmpdir(), 'start-'))));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

describe('chooseSettings', () => {
  it.each([8081, 8082])('assigns two separate ports to media when the port of the gateway is %i', async (port) => {
    const settings = await chooseSettings({}, { host: '127.0.0.1', port }, dataDir);
    const media = settingsOf('media', settings);
    expect(new Set([String(port), media['PORT'], media['INTERNAL_PORT']]).size).toBe(3);
    const urls = {
      MEDIA_URL: `http://127.0.0.1:${media['PORT']}`,
      MEDIA_INTERNAL_URL: `http://127.0.0.1:${media['INTERNAL_PORT']}`,
    };
    expect(settingsOf('api-gateway', settings)).toMatchObject({ ...urls, PORT: String(port) });
  });

  it('binds both ports of media to the loopback address when the platform is reachable from other machines', async () => {
    const settings = await chooseSettings({}, { host: '0.0.0.0', port: 8080 }, dataDir);
    expect([settingsOf('api-gateway', settings)['HOST'], settingsOf('media', settings)['HOST']]).toEqual([
      '0.0.0.0',
      '127.0.0.1',
    ]);
  });

  it('stores compiled code in the cache folder of the caller, or otherwise beside the data', async () => {
    const at = { host: '127.0.0.1', port: 8080 };
    const own = join(dataDir, 'compile-cache');
    const places = [{ NODE_COMPILE_CACHE: '/var/cache/compiled' }, {}, { NODE_COMPILE_CACHE: '' }].map(async (env) => {
      const settings = await chooseSettings(env, at, dataDir);
      return settingsOf('directory', settings)['NODE_COMPILE_CACHE'];
    });
    expect(await Promise.all(places)).toEqual(['/var/cache/compiled', own, own]);
  });
});
