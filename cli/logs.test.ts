import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { askCli } from '../test/ask-cli.ts';

const folder = mkdtempSync(join(tmpdir(), 'cli-logs-'));
mkdirSync(join(folder, 'logs'));
writeFileSync(join(folder, 'logs', 'directory.log'), 'one\ntwo\nthree\n');
writeFileSync(join(folder, 'logs', 'media.log'), 'four\n');
afterAll(() => rmSync(folder, { recursive: true }));

const ask = (...args: string[]) =>
  askCli({ COHERENCE_DATA_DIR: folder, NATS_URL: 'nats://127.0.0.1:1' }, 'logs', ...args);

describe('logs (rules/cli#admin-cli)', () => {
  it('prints the last lines of all services, or of one service', async () => {
    expect(await ask('--lines', '2')).toEqual([
      { service: 'directory', line: 'two' },
      { service: 'directory', line: 'three' },
      { service: 'media', line: 'four' },
    ]);
    expect(await ask('media')).toEqual([{ service: 'media', line: 'four' }]);
  });

  it('names the services that have logs when the service has none', async () => {
    await expect(ask('nothing')).rejects.toMatchObject({ message: expect.stringContaining('directory, media') });
  });
});
