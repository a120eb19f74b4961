import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

const repoDir = join(import.meta.dirname, '..');
/** The tested commands need no platform, so no address is passed to them. */
const { NATS_URL: _url, NODE_OPTIONS: _options, FORCE_COLOR: _force, NO_COLOR: _no, ...rest } = process.env;
const env = { ...rest, COHERENCE_DATA_DIR: join(repoDir, 'no', 'such', 'folder') };

function run(
  args: readonly string[],
  more: Record<string, string> = {},
): { status: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(repoDir, 'cli', 'main.ts'), ...args], {
    env: { ...env, ...more },
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

describe('the admin CLI without a platform', () => {
  it('prints its version (rules/operations#releases)', () => {
    const { version } = JSON.parse(readFileSync(join(repoDir, 'package.json'), 'utf8')) as { version: string };
    expect(run(['--version'])).toEqual({ status: 0, stdout: `${version}\n`, stderr: '' });
  });

  it.each([
    [['jobs', 'show'], 2, 'usage', "missing required argument 'id'"],
    [['jobs', 'list', '--frob'], 2, 'usage', "unknown option '--frob'"],
    [['frobnicate'], 2, 'usage', "unknown command 'frobnicate'"],
    [['jobs'], 2, 'usage', 'Specify a command; --help lists them.'],
    [['jobs', 'list'], 1, 'unavailable', expect.stringContaining('Not logged in')],
    [['accounts', 'create', 'a@example.org'], 1, 'unavailable', expect.stringContaining('NATS_URL is not set')],
  ])('prints the failure of %j as JSON, and nothing else, with --json', (args, status, code, message) => {
    const { stdout, ...outcome } = run(['--json', ...args]);
    expect({ ...outcome, json: JSON.parse(stdout) as unknown }).toEqual({
      status,
      stderr: '',
      json: { error: { code, message } },
    });
  });

  it('prints colours without a terminal only when colours are forced', () => {
    expect(run(['jobs', 'frob'])).toMatchObject({
      status: 2,
      stdout: '',
      stderr: expect.stringMatching(/^error: unknown command 'frob'\n/),
    });
    expect(run(['jobs', 'frob'], { FORCE_COLOR: '1' }).stderr).toContain(
      "\u001b[31merror: unknown command 'frob'\u001b[39m\n",
    );
  });

  it('exits silently when the reader of its output closes the pipe', async () => {
    const child = spawn(process.execPath, [join(repoDir, 'cli', 'main.ts'), 'completion', 'bash'], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stdout.destroy();
    expect(await text(child.stderr)).toBe('');
  });
});
