import { spawn } from 'node:child_process';
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
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

  it('follows the logs, also of a service that starts later and after a new start of the platform', async () => {
    const data = join(folder, 'followed');
    const write = (service: string, content: string): void =>
      writeFileSync(join(data, 'logs', `${service}.log`), content);
    mkdirSync(join(data, 'logs'), { recursive: true });
    write('media', 'old\nlast\n');
    const child = spawn(process.execPath, ['cli/main.ts', 'logs', '--follow', '--lines', '1', '--json'], {
      env: { ...process.env, COHERENCE_DATA_DIR: data, NODE_OPTIONS: '' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
    const next = async (): Promise<unknown> => JSON.parse(String((await lines.next()).value));
    expect(await next()).toEqual({ service: 'media', line: 'last' });
    appendFileSync(join(data, 'logs', 'media.log'), 'half a ');
    write('agents', 'started\n');
    expect(await next()).toEqual({ service: 'agents', line: 'started' });
    appendFileSync(join(data, 'logs', 'media.log'), 'line\n');
    expect(await next()).toEqual({ service: 'media', line: 'half a line' });
    write('media', 'again\n');
    expect(await next()).toEqual({ service: 'media', line: 'again' });
    child.kill('SIGINT');
    expect(await new Promise((resolve) => void child.once('exit', (_code, signal) => resolve(signal)))).toBe('SIGINT');
  });
});
