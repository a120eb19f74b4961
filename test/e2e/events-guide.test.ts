/**
 * Follows docs/guides/events.md as a reader would: checks the documented response, and kills and restarts the
 * documented program (V3, V8).
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { waitFor } from '#libs/product/testing';
import { startTestPlatform, type TestPlatform } from './test-platform.ts';

const run = promisify(execFile);
const text = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'guides', 'events.md'), 'utf8');
const blocks = (language: string): string[] =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(([, body = '']) => body);
const folder = mkdtempSync(join(tmpdir(), 'coherence-events-'));

let platform: TestPlatform;
let env: NodeJS.ProcessEnv;
let running: ChildProcess | undefined;
beforeAll(async () => {
  platform = await startTestPlatform(
    import.meta.url,
    {},
    { services: ['api-gateway', 'conversations', 'directory', 'events'] },
  );
  for (const command of blocks('sh')[0]?.trim().split('\n') ?? []) {
    const words = [...command.replace('npm run --silent cli -- ', '').matchAll(/"([^"]*)"|(\S+)/g)].map(
      ([, quoted, plain]) => quoted ?? plain ?? '',
    );
    const { code, stdout, stderr } = await platform.cli(...words);
    expect([code, stderr]).toEqual([0, '']);
    const { token } = JSON.parse(stdout) as { token?: string };
    env = {
      ...process.env,
      NODE_OPTIONS: '',
      BASE: platform.baseUrl,
      COHERENCE_KEY: token,
      CURSOR_FILE: join(folder, 'cursor'),
    };
  }
});
afterAll(async () => {
  running?.kill('SIGKILL');
  await platform.stop();
  rmSync(folder, { recursive: true });
});

const person = async (key: string): Promise<void> => {
  await platform.apply({ people: [{ key, name: `Person ${key}` }] });
};

/** Starts the program of the guide. @returns the list to which its output lines are added */
function follow(): string[] {
  const lines: string[] = [];
  running = spawn(process.execPath, [join(folder, 'follow.mjs')], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  running.stdout?.on('data', (part: Buffer) =>
    lines.push(
      ...part
        .toString()
        .split('\n')
        .filter((line) => line !== ''),
    ),
  );
  return lines;
}

describe('docs/guides/events.md', () => {
  it('contains the actual responses of the feed', async () => {
    const [, command = ''] = blocks('sh');
    const { stdout } = await run('sh', ['-c', command], { env });
    const shown = JSON.parse(blocks('json')[0] ?? '') as object;
    expect(JSON.parse(stdout)).toEqual({ ...shown, next: expect.any(String) });
  });

  it('contains a program that misses no events, also after it is killed and restarted', async () => {
    writeFileSync(join(folder, 'follow.mjs'), blocks('js')[0] ?? '');
    const first = follow();
    await waitFor(async () => {
      await person(`early-${first.length}-${Math.random()}`);
      return first.length > 0;
    });
    running?.kill('SIGKILL');
    await waitFor(() => Promise.resolve(running?.signalCode === 'SIGKILL'));
    await person('meanwhile');
    const second = follow();
    await person('later');
    const idsOf = (lines: readonly string[]): number[] => lines.map((line) => Number(line.split(' ')[1]));
    const [created] = await platform.sql<{ ids: number[] }>(
      `select array_agg(id order by id) as ids from directory.people where id >= $1 and key is not null`,
      [idsOf(first)[0] ?? 0],
    );
    await waitFor(() => {
      expect([...new Set([...idsOf(first), ...idsOf(second)])].toSorted((a, b) => a - b)).toEqual(created?.ids);
      return Promise.resolve(true);
    });
    expect(second.every((line) => /^person\.created \d+ \{\}$/.test(line))).toBe(true);
  });

  it('explains the error when the next events are older than the retention (V3, V10)', async () => {
    const read = (query = '') =>
      platform.call('GET', `/api/v1/events?limit=1${query}`, { token: env['COHERENCE_KEY'] ?? '' });
    const { next } = (await read()).json;
    await person('before-the-end');
    await waitFor(async () => (await read(`&after=${next}`)).json.items.length > 0);
    await platform.ask('events', 'prune', '--before', new Date().toISOString(), '--yes');
    const refused = await read(`&after=${next}`);
    expect([refused.status, refused.json.code]).toEqual([410, 'cursor_expired']);
  });
});
